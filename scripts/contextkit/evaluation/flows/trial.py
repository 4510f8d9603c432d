"""An evaluation: what the user's own model can still answer from what we hand over.

For each text the model writes questions with keys, answers them in fresh calls from each arm's
material, and marks all answers without knowing whose they are:

    receipt     what we hand over
    cut         head and tail of the same tokens
    whole       the text itself
    nothing     no material, to subtract guessing
    opened      the receipt, and one part of the text that the reader may ask for
    with        the output of another program for the same text (`with=`)

Each call's answer is kept below the state folder, so an interrupted evaluation goes on where it
was. A call that fails, takes too long, or answers in no usable form is counted and not kept.
"""

from __future__ import annotations

import concurrent.futures
import os
import random
import subprocess
import tempfile
import threading
from collections import Counter

from contextkit.base import files, names, redaction, tokens
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Callable, Iterable, Iterator, Sequence, T
from contextkit.evaluation.documents import marks
from contextkit.evaluation.documents.marks import Question, Sheet, Unusable
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import telling
from contextkit.payloads.flows.storing import Output
from contextkit.text import blocks

RECEIPT, CUT, WHOLE, NOTHING, OPENED, WITH = "receipt", "cut", "whole", "nothing", "opened", "with"
ARMS = (RECEIPT, OPENED, CUT, WITH, WHOLE, NOTHING)  # in the table's order
QUESTIONS = 6  # a document
_CALLS = 8  # a document: questions, five arms of which one asks twice, marks
_LETTERS = "ABCDEFGH"
_AT_ONCE = 4  # calls under way
_FRAME = 250  # tokens of a prompt besides its material, and of its answer
_LARGEST = 400_000  # characters of a text; a model could not read a longer one whole
_SMALLEST = 500  # tokens below which nothing is stored
_HEADINGS, _TITLE = 60, 80  # headings of an outline, and characters of each


class Caller:
    """Runs commands; ends those that take more than `seconds`, and all of them on `stop`."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._stopped = False
        self._running: set[subprocess.Popen[bytes]] = set()

    def call(self, command: str, text: str, folder: str) -> tuple[str, str, str]:
        """Run a command in a folder: its answer, why it gave none, what it said on stderr."""
        with self._lock:  # once `stop` has it, nothing starts any more
            if self._stopped:
                return "", "stopped", ""
            process = subprocess.Popen(
                ["/bin/sh", "-c", command], cwd=folder, stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            self._running.add(process)
        try:
            out, complaint = process.communicate(text.encode("utf-8"), self._seconds)
        except subprocess.TimeoutExpired:
            _end(process)
            process.communicate()
            return "", f"no answer in {self._seconds} s", ""
        finally:
            with self._lock:
                self._running.discard(process)
        failed = f"exit status {process.returncode}" if process.returncode else ""
        return out.decode("utf-8", "replace"), failed, complaint.decode("utf-8", "replace")

    def stop(self) -> None:
        """Start no further call, and end those under way."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and everything it started, which is its process group."""
    try:
        os.killpg(process.pid, 9)
    except ProcessLookupError:
        pass


class Trial:
    """The calls of one evaluation: answers are kept, failures are counted."""

    def __init__(self, layout: Layout, command: str, other: str = "", seconds: int = 300) -> None:
        """`other` is a program that shortens a text, for one more arm."""
        self._command, self._other = command, other
        self._folder = os.path.join(layout.state, "evaluation")
        self._caller = Caller(seconds)
        self._lock = threading.Lock()
        self._calls, self._failed = 0, Counter[str]()
        self._shown: dict[str, str] = {}  # the beginning of the first unusable answer, or error
        self.left_out: list[str] = []

    def cost(self, samples: Sequence[Sample]) -> tuple[int, int]:
        """The most calls that the samples take, and about how many tokens are read."""
        each = _CALLS + bool(self._other)
        sizes = [(tokens.estimate(s.whole), tokens.estimate(s.handed_over)) for s in samples]
        read = sum(2 * whole + 4 * receipt + each * _FRAME for whole, receipt in sizes)
        return each * len(samples), read

    def run(self, samples: Sequence[Sample], progress: Callable[[str], None]) -> list[Sheet]:
        """Evaluate every sample; `progress` gets a line for each finished one."""
        sheets: dict[str, list[Sheet]] = {}
        with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
            try:
                waiting = {pool.submit(self._document, sample): sample.name for sample in samples}
                for done, future in enumerate(ended(waiting), 1):
                    name = waiting[future]
                    sheets[name] = sheets.get(name, []) + future.result()
                    progress(f"{done} of {len(samples)}: {name}")
            except BaseException:
                self._caller.stop()
                pool.shutdown(cancel_futures=True)
                raise
        self.left_out = sorted(name for name, marked in sheets.items() if not marked)
        return [sheet for name in dict.fromkeys(s.name for s in samples) for sheet in sheets[name]]

    def counted(self) -> str:
        """The number of calls, and what became of the failed ones."""
        failed = ", ".join(f"{count} with {reason}" for reason, count in self._failed.items())
        calls = f"{names.counted(self._calls, 'call')}, {self._failed.total()} failed"
        parts = [f"{calls} ({failed})" if failed else calls]
        parts += [f"{what} {names.quoted(begun)}" for what, begun in self._shown.items()]
        left_out = names.counted(len(self.left_out), "text")
        return "; ".join([*parts, f"{left_out} left out"] if self.left_out else parts)

    def _document(self, sample: Sample) -> list[Sheet]:
        """Evaluate one document; empty if it got no questions or no marks.

        One call marks the answers of all arms, which have letters in random order.
        """
        answers: dict[str, tuple[str, ...]] = {}
        sizes: dict[str, int] = {}
        try:
            prompt = marks.ask_for_questions(sample.whole, QUESTIONS)
            asked = self._ask(prompt, lambda answer: marks.questions(answer, QUESTIONS))
            for arm, material in self._materials(sample).items():
                try:
                    answers[arm], sizes[arm] = self._answers(sample, asked, arm, material)
                except Unusable:
                    continue
            if not answers:
                return []
            arms = list(answers)
            random.Random(names.sha256(sample.name.encode("utf-8", "replace"))).shuffle(arms)
            letters = dict(zip(arms, _LETTERS, strict=False))
            prompt = marks.ask_for_marks(asked, {letters[arm]: answers[arm] for arm in arms})
            marked = self._ask(
                prompt, lambda text: marks.read_marks(text, list(letters.values()), len(asked))
            )
        except Unusable:
            return []
        return [
            Sheet(sample.name, sample.kind, arm, sizes[arm], marked[letters[arm]])
            for arm in sorted(arms, key=ARMS.index)
        ]

    def _materials(self, sample: Sample) -> dict[str, str]:
        """The material for the reader of each arm; an arm whose program failed is left out."""
        size = tokens.estimate(sample.handed_over)
        materials = {
            RECEIPT: sample.handed_over, OPENED: sample.handed_over,
            CUT: head_and_tail(sample.whole, size), WHOLE: sample.whole, NOTHING: "",
        }  # fmt: skip
        if self._other:
            try:
                materials[WITH] = self._run(self._other, sample.whole)
            except Unusable:
                pass  # counted
        return materials

    def _answers(
        self, sample: Sample, asked: Sequence[Question], arm: str, material: str
    ) -> tuple[tuple[str, ...], int]:
        """The answers of one reader and the tokens of material that it read."""

        def read(answer: str) -> tuple[str, ...]:
            return marks.answers(answer, len(asked))

        if arm == OPENED:
            prompt = marks.ask_for_answers(asked, material, outline(sample.whole))
            wanted = self._ask(prompt, lambda text: marks.lines_asked_for(text) or read(text))
            if isinstance(wanted[0], str):
                return wanted, tokens.estimate(material)
            first, last = wanted
            part = "\n".join(sample.whole.split("\n")[first - 1 : last])
            material = f"{material}\n\nLines {first} to {last} of the whole:\n{part}"
        prompt = marks.ask_for_answers(asked, material)
        return self._ask(prompt, read), tokens.estimate(material)

    def _ask(self, prompt: str, read: Callable[[str], Any]) -> Any:
        """What `read` makes of the model's answer; raises Unusable, which is counted."""
        key = names.sha256(f"{self._command}\0{prompt}".encode("utf-8", "replace"))
        path = os.path.join(self._folder, key[:32])
        kept = files.read_if_there(path)
        if kept is None:
            with self._lock:
                self._calls += 1
        answer = self._run(self._command, prompt) if kept is None else kept
        try:
            value = read(answer)
        except Unusable:
            begun = answer.strip() or "nothing"
            self._count("no usable form", "one without a usable form began", begun)
            raise
        if kept is None:
            files.write(path, answer, derived=True)
        return value

    def _run(self, command: str, text: str) -> str:
        """Run a command in an empty folder, without hooks or instructions."""
        with tempfile.TemporaryDirectory(prefix="contextkit-eval-") as empty:
            answer, failed, complaint = self._caller.call(command, text, empty)
        if failed:
            self._count(failed, "it said", complaint)
            raise Unusable
        return answer

    def _count(self, reason: str, what: str, text: str) -> None:
        """Count a failed call; for the first of its kind, keep the beginning of a text to show."""
        with self._lock:
            self._failed[reason] += 1
            if begun := text.strip().partition("\n")[0]:
                self._shown.setdefault(what, begun)


def ended(
    futures: Iterable[concurrent.futures.Future[T]],
) -> Iterator[concurrent.futures.Future[T]]:
    """The futures as they end; it waits a second at a time, so that an interrupt gets through."""
    waiting = set(futures)
    while waiting:
        done, waiting = concurrent.futures.wait(waiting, 1, concurrent.futures.FIRST_COMPLETED)
        yield from done


class Sample(NamedTuple):
    """A text as `whole`, and `handed_over` in its place; both without secrets."""

    name: str
    kind: str
    whole: str
    handed_over: str


def _sample(layout: Layout, name: str, kind: str, *texts: str) -> Sample:
    allowed = layout.limits.secrets_allow
    whole, handed_over = (redaction.redacted(text, allowed)[0] for text in texts)
    return Sample(name, kind, whole, handed_over)


def stored(layout: Layout) -> Iterator[Sample]:
    """Every payload, recovery and handoff that is stored here."""
    for payload in payloads.load_all(layout).documents:
        yield from _text(layout, f"payload:{payload.topic}", payload.content, payload.topic)
    yield from _recoveries(layout)
    yield from _handoffs(layout)


def in_folder(layout: Layout, folder: str) -> Iterator[Sample]:
    """A sample for every text in a folder, as if it had just been stored."""
    if not os.path.isdir(folder):
        raise bad_input(f"folder: {names.quoted(folder)} is not a folder")
    for here, inside, file_names in os.walk(folder):
        inside.sort()
        for name in sorted(file_names):
            path = os.path.join(here, name)
            yield from _text(layout, os.path.relpath(path, folder), files.text_of(path), name)


def _text(layout: Layout, name: str, text: str, topic: str) -> Iterator[Sample]:
    if len(text) > _LARGEST or text.isspace() or tokens.estimate(text) <= _SMALLEST:
        return
    shown, size = names.one_line(topic)[:200] or "text", tokens.estimate(text)
    output = Output(topic=shown, source="evaluation", content=text, tokens=size)
    told = telling.tell(layout, output, layout.join(name)).receipt
    yield _sample(layout, name, told.kind or "text", text, receipts.render(told))


def _recoveries(layout: Layout) -> Iterator[Sample]:
    """For each task, everything stored about it, and what a fresh agent gets."""
    from contextkit.memory.flows import recovery, recovery_report, upkeep

    by_task: dict[str, list[str]] = {}
    for document in upkeep.listed(layout):
        by_task.setdefault(document["task"], []).append(document["path"])
    for task, paths in sorted(by_task.items()):
        whole = "\n\n".join(files.read(path) for path in paths)
        recovered = recovery.load(layout, task, names.now())
        made = recovery_report.make(layout, recovered, layout.limits.memory_recover_tokens)
        if tokens.estimate(whole) > max(_SMALLEST, tokens.estimate(made.text)):
            yield _sample(layout, f"plan:{task}", "recovery", whole, made.text)


def _handoffs(layout: Layout) -> Iterator[Sample]:
    """For each artifact whose story exists, the story and the artifact."""
    from contextkit.handoffs.documents import artifacts

    for path, handoff in artifacts.load_all(layout):
        story = files.read_if_there(layout.join(handoff.story_path)) if handoff.story_path else ""
        artifact = files.read(path)
        if story and tokens.estimate(story) > tokens.estimate(artifact):
            name = f"handoff:{os.path.basename(path)}"
            yield _sample(layout, name, "handoff", f"{artifact}\n\n{story}", artifact)


def head_and_tail(text: str, size: int) -> str:
    """The beginning and the end of a text, half of `size` tokens each."""
    if tokens.estimate(text) <= size:
        return text
    lines = text.split("\n")

    def tail(count: int) -> str:
        return "\n".join(lines[len(lines) - count :])

    count = tokens.largest(len(lines), lambda n: tokens.estimate(tail(n)) <= size // 2)
    return f"{tokens.clip(text, size // 2, mark='')}\n[…]\n{tail(count)}"


def outline(text: str) -> str:
    """The headings of a text with their lines, or its number of lines if it has none."""
    heads = [head for head in blocks.blocks(text) if head.kind == "heading"]
    rows = [f"{head.first}-{head.last}: {head.title[:_TITLE]}" for head in heads[:_HEADINGS]]
    count = text.count("\n") + 1
    return "\n".join(rows) or f"(no headings; lines 1 to {count})"

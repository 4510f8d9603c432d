"""An evaluation: what the user's own model still knows from what we hand over.

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
import tempfile
import threading

from contextkit.base import files, names, tokens
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple, Record
from contextkit.base.type_names import Any, Callable, Iterable, Iterator, Sequence, T
from contextkit.evaluation.documents import exchange
from contextkit.evaluation.documents.exchange import Question, Unusable
from contextkit.evaluation.documents.score import Sheet
from contextkit.evaluation.flows import samples
from contextkit.evaluation.flows.calling import Caller
from contextkit.evaluation.flows.samples import Sample

RECEIPT, CUT, WHOLE, NOTHING, OPENED, WITH = "receipt", "cut", "whole", "nothing", "opened", "with"
ARMS = (RECEIPT, OPENED, CUT, WITH, WHOLE, NOTHING)  # in the order of the table
QUESTIONS = 6  # a document
_CALLS = 8  # a document: questions, five arms of which one asks twice, marks
_LETTERS = "ABCDEFGH"
_AT_ONCE = 4  # calls under way
_FRAME = 250  # tokens of a prompt besides its material, and of its answer


class Model(Record):
    """The command that reads a prompt and prints an answer; `seconds` is its time limit."""

    command: str
    seconds: int = 300
    other: str = ""  # a program that shortens a text, for one more arm


class Outcome(NamedTuple):
    """The marks, the calls that failed by reason, and documents left out for such a call.

    unusable: how the first answer begins that had no usable form.
    """

    sheets: tuple[Sheet, ...]
    calls: int
    failed: dict[str, int]
    left_out: tuple[str, ...]
    unusable: str


class _Failed(Exception):
    """A call that gave nothing usable; its text is the reason."""


def cost(chosen: Sequence[Sample], model: Model) -> tuple[int, int]:
    """How many calls an evaluation takes at most, and about how many tokens are read."""
    calls = len(chosen) * (_CALLS + bool(model.other))
    total = 0
    for sample in chosen:
        whole, receipt = tokens.estimate(sample.whole), tokens.estimate(sample.handed_over)
        total += 2 * whole + 4 * receipt + (_CALLS + bool(model.other)) * _FRAME
    return calls, total


def run(
    layout: Layout, chosen: Sequence[Sample], model: Model, progress: Callable[[str], None]
) -> Outcome:
    """Evaluate every sample; `progress` gets a line for each that is done."""
    desk = _Desk(layout, model)
    sheets: list[Sheet] = []
    left_out = []
    with concurrent.futures.ThreadPoolExecutor(_AT_ONCE) as pool:
        try:
            waiting = {pool.submit(_document, desk, sample): sample for sample in chosen}
            for done, future in enumerate(ended(waiting), 1):
                marked = future.result()
                sheets += marked
                if not marked:
                    left_out.append(waiting[future].name)
                progress(f"{done} of {len(chosen)}: {waiting[future].name}")
        except BaseException:
            desk.caller.stop()
            pool.shutdown(cancel_futures=True)
            raise
    order = {sample.name: number for number, sample in enumerate(chosen)}
    sheets.sort(key=lambda sheet: (order[sheet.document], ARMS.index(sheet.arm)))
    return Outcome(
        tuple(sheets), desk.calls, dict(desk.failed), tuple(sorted(left_out)), desk.unusable
    )


def ended(
    futures: Iterable[concurrent.futures.Future[T]],
) -> Iterator[concurrent.futures.Future[T]]:
    """The futures as they end.

    No wait is longer than a second: an interrupt that comes just before one is heard after it.
    """
    waiting = set(futures)
    while waiting:
        done, waiting = concurrent.futures.wait(waiting, 1, concurrent.futures.FIRST_COMPLETED)
        yield from done


def _document(desk: _Desk, sample: Sample) -> list[Sheet]:
    """Evaluate one document; nothing where its questions or marks could not be had."""
    try:
        asked = desk.ask(
            exchange.ask_for_questions(sample.whole, QUESTIONS),
            lambda answer: exchange.questions(answer, QUESTIONS),
        )
    except _Failed:
        return []
    answers: dict[str, tuple[str, ...]] = {}
    sizes: dict[str, int] = {}
    for arm, material in _materials(desk, sample).items():
        try:
            answers[arm], sizes[arm] = _answers(desk, sample, asked, arm, material)
        except _Failed:
            continue
    try:
        marked = _marks(desk, sample, asked, answers)
    except _Failed:
        return []
    return [
        Sheet(sample.name, sample.kind, arm, sizes[arm], marks) for arm, marks in marked.items()
    ]


def _materials(desk: _Desk, sample: Sample) -> dict[str, str]:
    """What the reader of each arm is given; an arm whose program failed is left out."""
    size = tokens.estimate(sample.handed_over)
    materials = {
        RECEIPT: sample.handed_over,
        OPENED: sample.handed_over,
        CUT: samples.head_and_tail(sample.whole, size),
        WHOLE: sample.whole,
        NOTHING: "",
    }
    if desk.model.other:
        try:
            materials[WITH] = desk.run(desk.model.other, sample.whole)
        except _Failed:
            pass  # counted
    return materials


def _answers(
    desk: _Desk, sample: Sample, asked: Sequence[Question], arm: str, material: str
) -> tuple[tuple[str, ...], int]:
    """The answers of one reader and the tokens of material that it read."""

    def read(answer: str) -> tuple[str, ...]:
        return exchange.answers(answer, len(asked))

    if arm == OPENED:
        prompt = exchange.ask_for_answers(asked, material, samples.outline(sample.whole))
        wanted = desk.ask(prompt, lambda text: exchange.lines_asked_for(text) or read(text))
        if isinstance(wanted[0], str):
            return wanted, tokens.estimate(material)
        first, last = wanted
        part = "\n".join(sample.whole.split("\n")[first - 1 : last])
        material = f"{material}\n\nLines {first} to {last} of the whole:\n{part}"
    answers = desk.ask(exchange.ask_for_answers(asked, material), read)
    return answers, tokens.estimate(material)


def _marks(
    desk: _Desk, sample: Sample, asked: Sequence[Question], answers: dict[str, tuple[str, ...]]
) -> dict[str, tuple[str, ...]]:
    """Each arm's marks, from one call in which they have letters in random order."""
    if not answers:
        raise _Failed
    arms = list(answers)
    random.Random(names.sha256(sample.name.encode("utf-8", "replace"))).shuffle(arms)
    letters = dict(zip(_LETTERS, arms, strict=False))
    by_letter = {letter: answers[arm] for letter, arm in letters.items()}
    prompt = exchange.ask_for_marks(asked, by_letter)
    marked = desk.ask(prompt, lambda answer: exchange.marks(answer, list(letters), len(asked)))
    return {letters[letter]: marks for letter, marks in marked.items()}


class _Desk:
    """Calls the model, keeps what it answered, and counts what it did not."""

    def __init__(self, layout: Layout, model: Model) -> None:
        self.model = model
        self.calls = 0
        self.failed: dict[str, int] = {}
        self.unusable = ""
        self._folder = os.path.join(layout.state, "evaluation")
        self._lock = threading.Lock()
        self.caller = Caller(model.seconds)

    def ask(self, prompt: str, read: Callable[[str], Any]) -> Any:
        """What `read` makes of the model's answer; raises _Failed, which is counted."""
        key = names.sha256(f"{self.model.command}\0{prompt}".encode("utf-8", "replace"))
        path = os.path.join(self._folder, key[:32])
        kept = files.read_if_there(path)
        answer = kept or ""
        if kept is None:
            with self._lock:
                self.calls += 1
            answer = self.run(self.model.command, prompt)
        try:
            value = read(answer)
        except Unusable:
            self.unusable = self.unusable or answer.strip().partition("\n")[0] or "nothing"
            raise self._failure("no usable form") from None
        if kept is None:
            files.write(path, answer)
        return value

    def run(self, command: str, text: str) -> str:
        """Run a command in an empty folder, where no hook and no instructions are found."""
        with tempfile.TemporaryDirectory(prefix="contextkit-eval-") as empty:
            answer, failed = self.caller.call(command, text, empty)
        if failed:
            raise self._failure(failed)
        return answer

    def _failure(self, reason: str) -> _Failed:
        with self._lock:
            self.failed[reason] = self.failed.get(reason, 0) + 1
        return _Failed(reason)

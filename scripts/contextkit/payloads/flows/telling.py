"""The contents of a receipt: its author's words first, checked, then what the text itself shows.

The author's words are an answer about the text, or else the text's own Summary, Conclusion, Verdict
(`text/authored.py`). All of them are included, long ones cut at a clause; a digest of the rest
fills what is left of the cap, and is the whole receipt if there are no such words. `make bench
what=receipts` measures what the numbers below keep.
"""

from __future__ import annotations

import functools

from contextkit.base import markdown, names, tokens
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Sequence
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents.receipts import LEFT_OUT, Receipt, Row, Told
from contextkit.text import authored, fitting, grounding
from contextkit.text.authored import Authored, Statement
from contextkit.text.digests import engine, reading, weighing
from contextkit.text.digests.reading import Unit
from contextkit.text.grounding import Checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.payloads.flows.storing import Output

_EXTRACT = 110  # tokens for the digest beside an author's words
_SERIOUS = 70  # tokens of those from which on a review's findings come from the text itself
_CLAUSE = 130  # characters to which all long statements are cut first
_SHORTEST = 60  # characters below which a statement is not shortened further
_SECTIONS = 2  # sections with what is left to others of which the first statement stays
_FEW, _NAMED = 3, 100  # findings that are named, and characters of each
_ID = 20  # characters of an id of a finding
_AROUND = 12  # least lines that are opened
_FULL = 1.5  # times the lines to open first, up to which all are opened
_SHORT = 40  # characters of a first statement to which the second is added


def bare(layout: Layout, output: Output, path: str) -> Receipt:
    """The receipt with the caller's fields alone."""
    return Receipt(
        path=layout.shown(path),
        rows=output.rows[: layout.limits.payload_rows],
        key_findings=names.one_line(output.key_findings),
        confidence=output.confidence,
        tokens_stored=output.tokens,
        estimated=output.estimated,
    )


def tell(layout: Layout, output: Output, path: str, first: int = 1) -> Told:
    """The receipt and summary of any text, whose first line is line `first` of its file."""
    return _Teller(layout, output, path, first).told()


def unread(layout: Layout, output: Output, path: str, first: int, why: str) -> Told:
    """The receipt of a text that could not be read (in time): what it is, and where."""
    caller, topic = bare(layout, output, path), output.topic.strip()
    receipt = caller.replace(
        rows=caller.rows or (Row(aspect="Topic", finding=topic),),
        key_findings=caller.key_findings or names.one_line(output.answer) or topic,
        note=f"{why}; the text is stored whole",
        more=_lines(first, 1, output.content.count("\n") + 1),
    )
    return _fitted(layout, receipt)


def _fitted(layout: Layout, receipt: Receipt) -> Told:
    """The receipt without secrets and within its cap."""
    limits = layout.limits
    receipt, secrets = receipts.clean_receipt(layout, receipt)
    receipt, cut = receipts.clipped(receipt, limits.payload_receipt_tokens, limits.tokenizer)
    return Told(receipt, secrets=tuple(secrets), cut=tuple(cut))


@functools.cache
def _lines(first: int, start: int, last: int) -> str:
    """The lines of the stored file that hold these lines of the text."""
    return names.lines(first + start - 1, first + max(start, last) - 1)


class _Teller:
    """A receipt filled up to its cap: its author's words, then a digest."""

    def __init__(self, layout: Layout, output: Output, path: str, first: int) -> None:
        self._layout, self._first = layout, first
        self._answer = output.answer or output.summary
        self._text, self._topic = output.content, output.topic.strip()
        self._lines = self._text.split("\n")
        self._cap, self._most = layout.limits.payload_receipt_tokens, layout.limits.payload_rows
        self._bare = bare(layout, output, path)
        self._hides = False  # whether secrets are left out while the receipt is measured
        self._author, self._parsed = self._read(output.status)

    def _read(self, status: int | None) -> tuple[Authored, engine.ParsedText]:
        """The author's words about the text, and the text without them."""

        def parsed(text: str) -> engine.ParsedText:
            return engine.ParsedText(text, self._layout.limits.tokenizer, status)

        if self._answer:
            return authored.answer(self._answer), parsed(self._text)
        author = authored.read(self._text)
        if not author.sums_up:  # only a verdict, which the digest includes
            others = tuple(s for s in author.statements if s.role != "verdict")
            author = author._replace(statements=others)
        lines = list(self._lines)
        for statement in author.core or author.statements:  # already included
            for at in range(statement.line - 1, _end(lines, statement.line)):
                lines[at] = ""
        rest = parsed("\n".join(lines))
        if rest.is_output and author.statements:  # the labels of a tool are not an author's
            return authored.Authored(), parsed(self._text)
        return author, rest

    def told(self) -> Told:
        """The receipt within its cap, the summary, and facts about the text."""
        author, parsed = self._author, self._parsed
        own = self._answer or _told_in(author.statements)
        words = receipts.said(self._bare).strip()
        checked = grounding.of_itself(own) if own else None  # the text's own need no look-up
        if self._answer or words:
            checked = grounding.check(f"{own}\n{words}".strip(), self._text)
        is_whole = bool(self._bare.rows and self._bare.key_findings)
        self._bare = self._headed(checked)
        if is_whole:
            is_review = parsed.kind == "review"
            lacking = _left_out(self._text, f"{own}\n{words}") if is_review else []
            added = (Row(aspect=beside.aspect, finding=beside.told(_NAMED)) for beside in lacking)
            told = _fitted(self._layout, self._bare.replace(rows=(*self._bare.rows, *added)))
        else:
            told = _fitted(self._layout, self._receipt())
            if told.secrets:  # a mark in place of a secret is shorter
                self._hides = True
                told = _fitted(self._layout, self._receipt())
        if not checked:
            kept = parsed.facts_kept(receipts.said(told.receipt))
            told = told._replace(receipt=told.receipt.replace(facts_kept=kept))
        summary = author.lead()
        if len(author.statements) < 2 and not self._answer:
            summary = f"{summary} {parsed.lead(2 if summary else 3)}"
        (summary,), secrets = receipts.clean(self._layout, [names.one_line(summary)])
        return told._replace(
            summary=summary,
            authored=bool(author.statements),
            missing=checked.missing if checked else (),
            secrets=(*told.secrets, *secrets),
        )

    def _headed(self, checked: Checked | None) -> Receipt:
        """The receipt with the fields that every text gets, before anything is chosen."""
        total = len(self._parsed.facts)
        return self._bare.replace(
            confidence=self._bare.confidence or self._author.confidence,
            kind=self._parsed.kind,
            grounded=checked.said if checked else "",
            missing=receipts.listed(checked.missing) if checked else "",
            facts_kept="" if checked else f"{total}/{total}{'+' * self._parsed.partly}",
            more=_lines(self._first, 1, reading.line_count(self._text)),
        )

    def _size(self, receipt: Receipt) -> int:
        """The tokens of a receipt as it is shown."""
        shown = receipts.clean_receipt(self._layout, receipt)[0] if self._hides else receipt
        return tokens.size(receipts.render(shown), self._layout.limits.tokenizer)

    def _receipt(self) -> Receipt:
        """The receipt; if its author's words leave no room, the gravest findings are named."""
        core = self._author.core or self._author.statements
        if self._parsed.kind != "review" or not core:
            return self._filled_up(self._authored(()))
        told = self._with(core)
        if not self._answer and self._size(told) <= self._cap - _SERIOUS:
            return self._filled_up(told)
        told = self._authored(_left_out(self._text, _told_in(core)))
        return told if told.rows else self._with_topic(told)

    def _authored(self, more: Sequence[Beside]) -> Receipt:
        """The receipt with as many whole statements of its author as fit, and the rows beside.

        Statements outside the core go first, then the rows get shorter, then the longest
        statements are cut, then names go, and finally the last statements.
        """
        core = self._author.core or self._author.statements
        wanted = [*core, *(s for s in self._author.statements if s not in core)]
        parts = _parts(wanted, len(core), more)

        def made(texts: Sequence[str]) -> Receipt:
            pairs = zip(wanted, texts, strict=False)
            told = [each if each.text == text else each._replace(text=text)
                    for each, text in pairs if text]  # fmt: skip
            lost = [each for each, text in zip(wanted, texts, strict=False) if not text]
            last = {each.aspect: at for at, each in enumerate(told) if each.asks}
            last[""] = len(told) - 1  # lost ones of the core are counted at the end
            for aspect, at in last.items():
                left = [self._first + each.line - 1 for each in lost
                        if (each.aspect == aspect if aspect
                            else each in core and each.aspect not in last)]  # fmt: skip
                if left and told and not self._answer:
                    told[at] = told[at]._replace(text=reading.joined(told[at].text, _counted(left)))
            ends = zip(more, texts[len(wanted) :], strict=True)
            return self._with(
                told, [Row(aspect=statement.aspect, finding=text) for statement, text in ends]
            )

        return made(fitting.fit(parts, lambda texts: self._size(made(texts)) <= self._cap))

    def _with(self, told: Sequence[Statement], added: Sequence[Row] = ()) -> Receipt:
        """The receipt with these statements in the fields that its author left open."""
        bare, texts = self._bare, list(told)
        key = bare.key_findings
        if not key and texts:
            key = texts.pop(0).text
            if len(key) < _SHORT and texts:
                key = reading.joined(key, texts.pop(0).text)
        if bare.rows:
            return bare.replace(key_findings=key, rows=(*bare.rows, *added))
        by_row: list[tuple[str, list[str]]] = []
        for statement in texts:
            aspect = statement.aspect or "Summary"
            if by_row and (by_row[-1][0] == aspect or len(by_row) == self._most - len(added)):
                by_row[-1][1].append(statement.text)
            else:
                by_row.append((aspect, [statement.text]))
        rows = (Row(aspect=aspect, finding=reading.joined(*parts)) for aspect, parts in by_row)
        return bare.replace(key_findings=key, rows=(*rows, *added))

    def _filled_up(self, told: Receipt) -> Receipt:
        """The receipt with a digest in the room that is left."""
        frame = self._size(told)
        written = bool(told.key_findings)
        room, most = self._cap - frame, self._most - len(told.rows)
        short = self._author.sums_up or self._answer
        room = min(room, _EXTRACT) if written and short else max(room, 1)
        if written and (room < _SHORTEST // 3 or most < 1):
            return told if told.rows else self._with_topic(told)

        shown = receipts.said(told)

        def added(digest: engine.Digest) -> int:
            return self._size(self._merged(told, digest, shown)) - frame

        digest = self._parsed.digest(room, most, added, self._first, not written, shown)
        return self._merged(told, digest, shown)

    def _merged(self, told: Receipt, digest: engine.Digest, shown: str) -> Receipt:
        """The receipt `told` and a digest of what it does not say, `shown` being all it says."""
        rows = [Row(aspect=row.aspect or "Content", finding=row.finding)
                for row in digest.rows if _uncounted(row.finding) not in shown]  # fmt: skip
        key = told.key_findings or digest.key
        if not key and len(rows) == 1 and not told.rows:  # the only finding, shown once
            key, rows = rows[0].finding, []
        rows = [*told.rows, *(rows if not self._bare.rows else [])]
        rows = rows or [Row(aspect="Topic", finding=self._topic)]
        more = self._more(digest, shown) or self._unshown([key, *(row.finding for row in rows)])
        return told.replace(rows=tuple(rows), key_findings=key or rows[0].finding, more=more)

    def _unshown(self, shown: Sequence[str]) -> str:
        """The lines of the whole text, unless each of them is shown."""
        text = "\n".join(shown)
        is_whole = all(line.strip() in text for line in self._lines)
        return "" if is_whole else self._bare.more

    def _more(self, digest: engine.Digest, shown: str) -> str:
        """The lines of what is left out; of many, those to open first: `lines 29-71 of 17-98`."""
        start, end = digest.stretch
        left = " ".join(line.strip("-* ") for line in self._lines[start - 1 : end])
        if not end or left in shown:  # the author's part has it
            return ""
        is_part = digest.rest <= start and end <= digest.last
        if is_part and digest.last - digest.rest < _FULL * engine.OPENED:
            return _lines(self._first, digest.rest, digest.last)
        around = max(0, _AROUND - (end - start)) // 2
        least, most = (digest.rest, digest.last) if is_part else (1, reading.line_count(self._text))
        first = _lines(self._first, max(least, start - around), min(end + around, most))
        if not is_part:
            return first
        whole = _lines(self._first, digest.rest, digest.last)
        return f"{first} of {whole.partition(' ')[2]}"

    def _with_topic(self, receipt: Receipt) -> Receipt:
        return receipt.replace(rows=(Row(aspect="Topic", finding=self._topic),))


def _uncounted(finding: str) -> str:
    """A row without the count of what it leaves out, or the sign that it is cut."""
    told, _, count = finding.rpartition(" (+")
    return (told if count.endswith("more)") else finding).rstrip(" …")


class Beside(NamedTuple):
    """A row next to an author's words: findings of a review, which are cut before statements."""

    aspect: str
    units: list[Unit]

    def cut(self, _: str, width: int) -> str:
        return self.told(width)

    def told(self, width: int) -> str:
        """The first few findings in so many characters each, or by id; the others are counted."""
        if width >= _SHORTEST:
            most = min(width, _NAMED)
            few = [names.clipped_at_space(unit.text, most) for unit in self.units[:_FEW]]
        else:
            few = [unit.short for unit in self.units[: 2 * _FEW] if len(unit.short) <= _ID]
        more = len(self.units) - len(few)
        return "; ".join([*few, f"+{more} more"] if more else few)


def _end(lines: list[str], number: int) -> int:
    """The last line, from 1, of the paragraph or item of which line `number` is the first.

    Items below it that differ only in numbers belong to it.
    """
    first = reading.form(lines[number - 1].strip())
    while number < len(lines) and (bare := lines[number].strip()):
        begins = bare[0] in "#|>*`" or markdown.mark_of(bare)
        if begins and reading.form(bare) != first:
            break
        number += 1
    return number


def _counted(lines: Sequence[int]) -> str:
    """The number of statements left out, and their lines in the file."""
    return f"+{len(lines)} more: {_lines(1, min(lines), max(lines))}"


def _left_out(text: str, answer: str) -> list[Beside]:
    """The P0 and P1 findings that an answer about a review leaves out, by priority."""
    from contextkit.text.digests.kinds import review

    answered = _words(answer)
    lacking = [unit for unit in review.findings(text) if not _is_told(unit, answer, answered)]
    by_rank = {rank: [u for u in lacking if u.rank == rank] for rank in LEFT_OUT}
    return [Beside(LEFT_OUT[rank], some) for rank, some in by_rank.items() if some]


def _is_told(unit: Unit, answer: str, answered: set[str]) -> bool:
    """Whether an answer names a finding: by its id or place, or by most of its words."""
    words = _words(unit.text)
    has_most_words = bool(words) and len(words & answered) >= 0.6 * len(words)
    return has_most_words or (bool(unit.short) and unit.short in answer)


def _words(text: str) -> set[str]:
    plain = "".join(char if char.isalnum() else " " for char in text.lower())
    return {word for word in plain.split() if len(word) > 3}


def _parts(wanted: Sequence[Statement], core: int, more: Sequence[Beside]) -> list[fitting.Part]:
    """The parts of a receipt: statements, the first `core` of them the core, and rows beside."""
    count = len(wanted)
    beside = range(count, count + len(more))
    advised = [s.role == "advice" or weighing.recommends(s.text) for s in wanted]
    longest = sorted(range(1, core), key=lambda at: (advised[at], -len(wanted[at].text)))
    asked = [at for at, statement in enumerate(wanted) if at >= core and statement.asks]
    first = [at for at in asked if wanted[at].aspect != wanted[at - 1].aspect][:_SECTIONS]
    moves = [((at,), 0) for at in reversed(range(core, count)) if at not in first]
    moves += [((at,), _CLAUSE) for at in first]
    moves += [((at,), width) for width in (_SHORTEST, 1) for at in beside[::-1]]
    moves += [((at,), width) for at in longest[: core // 2] for width in (_CLAUSE, _SHORTEST)]
    moves += [((at,), _SHORTEST) for at in first]
    moves += [((at,), 0) for at in sorted(range(1, core), key=lambda at: (advised[at], -at))]
    moves += [((at,), 0) for at in first]
    texts = [s.text for s in wanted] + [row.told(_NAMED) for row in more]
    parts = fitting.parts(texts, moves)
    for at, part in enumerate(parts):
        part.least = _SHORTEST if at < core or at in first else 0
        part.clip = reading.clause_or_words if at < count else more[at - count].cut
    return parts


def _told_in(statements: Sequence[Statement]) -> str:
    return "\n".join(statement.text for statement in statements)

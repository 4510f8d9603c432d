"""The one way to fit a cap: parts of a text are cut, in a given order, until the whole fits.

A part says at which steps it is cut, and to how many characters; 0 leaves it out. Steps are taken
in order, for all parts together, until `fits` holds for what the caller makes of the texts. The
parts that the last step cut then get back as much as there is room for, one after the other.

Nothing here counts tokens: `fits` does, so that the text around the parts is measured too.
"""

from __future__ import annotations

import itertools

from contextkit.base import names, tokens
from contextkit.base.type_names import Callable, Iterable, Sequence

_WHOLE = 1 << 60  # characters
Fits = Callable[[Sequence[str]], bool]


class Part:
    """A text, and its cuts: pairs of a step and the characters left, ever fewer.

    `least` is the fewest characters worth keeping: 0 for the whole text or none. `clip` shortens.
    `widths` are the only lengths worth trying, ascending; None for any.
    """

    def __init__(
        self,
        text: str,
        cuts: tuple[tuple[int, int], ...] = (),
        least: int = 0,
        clip: Callable[[str, int], str] = names.clipped_at_space,
        widths: Sequence[int] | None = None,
    ) -> None:
        self.text, self.cuts, self.least, self.clip, self.widths = text, cuts, least, clip, widths

    def after(self, step: int) -> str:
        """The text once all steps up to this one have been taken."""
        return self.to(next((width for at, width in reversed(self.cuts) if at <= step), _WHOLE))

    def to(self, width: int) -> str:
        if width >= len(self.text):
            return self.text
        return self.clip(self.text, width) if width else ""


def parts(texts: Sequence[str], moves: Iterable[tuple[Iterable[int], int]]) -> list[Part]:
    """Parts that are cut as the moves say: which of the texts, and to how many characters."""
    cuts: list[list[tuple[int, int]]] = [[] for _ in texts]
    for step, (which, width) in enumerate(moves):
        for at in which:
            cuts[at].append((step, width))
    return [Part(text, tuple(own)) for text, own in zip(texts, cuts, strict=True)]


def fit(parts: Sequence[Part], fits: Fits) -> tuple[str, ...]:
    """The texts after the fewest steps that fit, or after the last step; '' for a part left out."""
    steps = sorted({step for part in parts for step, _ in part.cuts})
    texts = tuple(part.text for part in parts)
    if not steps or fits(texts):
        return texts
    early, late = 0, len(steps) - 1  # the first step that fits, if any does
    while early < late:
        middle = (early + late) // 2
        if fits(_after(parts, steps[middle])):
            late = middle
        else:
            early = middle + 1
    step = steps[early]
    texts = _after(parts, step)
    if early == len(steps) - 1 and not fits(texts):
        return texts
    for at in range(len(parts)):  # the parts cut by this step regain the characters that fit
        texts = _with_room_used(parts, step, texts, at, fits)
    return texts


def _after(parts: Sequence[Part], step: int) -> tuple[str, ...]:
    return tuple(part.after(step) for part in parts)


def _with_room_used(
    parts: Sequence[Part], step: int, texts: tuple[str, ...], at: int, fits: Fits
) -> tuple[str, ...]:
    """The texts, with one part as long as fits, up to its length before the step."""
    part, now = parts[at], texts[at]
    whole = part.after(step - 1)

    def having(text: str) -> tuple[str, ...]:
        return (*texts[:at], text, *texts[at + 1 :])

    if whole == now or fits(having(whole)):
        return having(whole)
    if part.widths is not None:
        widths = [0, *(width for width in part.widths if len(now) < width < len(whole))]
        most = tokens.largest(len(widths) - 1, lambda n: fits(having(part.to(widths[n]))))
        return having(part.to(widths[most])) if most else texts
    low = len(now) or part.least
    if not low or not fits(having(part.to(low))):
        return texts
    return having(part.to(tokens.largest(len(whole), lambda n: fits(having(part.to(n))), low)))


def beginning(text: str, fits: Callable[[str], bool]) -> str:
    """As much of the beginning of a text as fits, cut at a space if one is near."""
    return fit([Part(text, ((1, 0),), least=1)], lambda texts: fits(texts[0]))[0]


def leading(texts: Iterable[str], room: int, tokenizer: str = tokens.DEFAULT) -> int:
    """How many of the first texts, one a line, fit into `room` estimated tokens."""
    sums = itertools.accumulate(tokens.estimate(text, tokenizer) + 1 for text in texts)
    return sum(1 for _ in itertools.takewhile(lambda used: used <= room, sums))

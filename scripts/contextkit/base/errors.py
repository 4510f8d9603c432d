"""How users see that something went wrong: exceptions and remarks."""

from __future__ import annotations


class ContextError(Exception):
    """A sentence that says what is wrong and what to do about it. Only `cli.run` prints it.

    `status` is the exit status: 1 for a negative answer or what could not be done, 2 for bad input
    (and then nothing was written), 3 for a wait that timed out.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


UPGRADE = "upgrade with `make upgrade` (in a host: `make context_upgrade`)"


class NewerFormat(ContextError):
    """A document of a newer contextkit: not broken, and left alone. The message says UPGRADE."""


remarks: list[str] = []  # what `remark` collected; the command line says it before the answer


def remark(*sentences: str) -> None:
    """Tell the user these sentences, each once, whether or not the command succeeds."""
    remarks.extend(sentence for sentence in dict.fromkeys(sentences) if sentence not in remarks)


def bad_input(message: str) -> ContextError:
    """A refused input: names the field, and promises that nothing was written."""
    return ContextError(message, status=2)

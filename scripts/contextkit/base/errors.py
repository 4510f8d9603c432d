"""What a user of the toolkit gets to see of trouble: the exception, and remarks."""

from __future__ import annotations


class ContextError(Exception):
    """What is wrong and what to do about it, in a sentence.

    `status` becomes the exit status: 1 for a negative answer or an operation that could not
    be done, 2 for bad usage or bad input (and then nothing was written), 3 for a wait that
    timed out. `cli.run` alone prints it.
    """

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status


UPGRADE = "upgrade with `make upgrade` (in a host: `make context_upgrade`)"


class NewerFormat(ContextError):
    """A document of a newer contextkit: not broken, and left as it is. It says UPGRADE."""


remarks: list[str] = []  # what somebody below the command line has to say when a command ends


def closed_output() -> ContextError:
    """Standard output is closed (`>&-`): nothing can be printed."""
    return ContextError("standard output is closed; the output is lost")


def bad_input(message: str) -> ContextError:
    """An input was refused: names the field, and promises that nothing was written."""
    return ContextError(message, status=2)

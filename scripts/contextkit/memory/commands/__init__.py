"""The commands of the external memory script."""

from contextkit.base.commands import Program
from contextkit.memory.commands import reading, writing

PROGRAM = Program(
    name="external_memory",
    about="Keep plans, findings, checkpoints and snapshots of a task, and recover it from them.",
    commands=(*writing.COMMANDS, *reading.COMMANDS),
)

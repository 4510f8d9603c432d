"""One door for what leaves: no command, hook or script prints past `base/outgoing.py`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from conftest import SCRIPTS, each

# Where something is written to stdout or stderr, and why that is right. What passes the door must
# call it in that very function.
THROUGH = {
    "contextkit/base/cli.py:say",
    "contextkit/base/cli.py:_print",
    "contextkit/hosts/commands.py:_carried_out",
    "contextkit/subagents/commands.py:show",
}
OWN_WORDS = {
    "contextkit/__init__.py:": "a Python that is too old for anything else",
    "contextkit/__init__.py:leave": "flushes",
    "contextkit/base/cli.py:confirm": "a question of ours",
    "contextkit/base/cli.py:_fill_closed": "asks whether it is there",
    "contextkit/base/tables.py:_terminal_width": "asks for a width",
    "contextkit/hosts/flows/upgrades.py:_python": "what pip says",
    "contextkit/subagents/commands.py:__init__": "asks whether it is a terminal",
    "contextkit/hosts/documents/vendored.py:main": "before anything is installed",
    "contextkit/outputs/flows/running.py:main": "the command line of its caller",
    "contextkit/outputs/flows/running.py:_start": "the command line of its caller",
    "contextkit/outputs/flows/running.py:_finish": "an errno of ours",
    "contextkit/outputs/flows/running.py:_tell_so_far": "a path of ours",
    "contextkit/outputs/flows/telling.py:tell": "what `digested` passed through the door",
    "host_hook.py:main": "what `runner._merged` passed through the door",
    "door.py:main": "the command line of its caller",
    "run.py:": "flushes",
    "run.py:main": "its own usage",
    "setup.py:say": "before anything is installed",
    "setup.py:main": "the version",
}
VERBATIM = {
    "contextkit/base/cli.py:_read": "a piped text of a call that was refused",
    "contextkit/payloads/commands.py:_part": "payload_show part=content",
    "contextkit/payloads/commands.py:store": "a piped text that was refused",
    "contextkit/payloads/commands.py:_stored": "what is piped through it, or could not be stored",
    "contextkit/subagents/commands.py:finish": "a report that could not be stored",
}


def functions(path: Path) -> Iterator[tuple[str, ast.AST]]:
    """Each function of a file with its place, and what stands outside of all of them."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    place = path.relative_to(SCRIPTS).as_posix()
    for node in inside:
        yield f"{place}:{node.name}", node
    outer = [node for node in tree.body if not isinstance(node, (ast.FunctionDef, ast.ClassDef))]
    yield f"{place}:", ast.Module(outer, [])


def writes(node: ast.AST) -> bool:
    """Whether a function uses a standard stream for anything but asking what it is."""
    return any(
        _is_stream(one) or (isinstance(one, ast.Call) and _is_of_writing(one))
        for one in ast.walk(node)
    )


def _is_stream(node: ast.AST) -> bool:
    named = isinstance(node, ast.Attribute) and node.attr.strip("_") in ("stdout", "stderr")
    return named and ast.unparse(node).startswith("sys.")


def _is_of_writing(call: ast.Call) -> bool:
    name = ast.unparse(call.func)
    first = call.args[0] if call.args else None
    to_stream = isinstance(first, ast.Constant) and first.value in (1, 2)
    return name == "print" or (name in ("os.write", "pump.write") and to_stream)


def asks_the_door(node: ast.AST) -> bool:
    names = {one.value.id for one in ast.walk(node)
             if isinstance(one, ast.Attribute) and isinstance(one.value, ast.Name)}  # fmt: skip
    return "outgoing" in names


def all_with(*words: str) -> list[tuple[str, ast.AST]]:
    """The functions of all our files that hold one of these words."""
    ours = [path for path in sorted(SCRIPTS.rglob("*.py")) if "compiled" not in path.parts]
    texts = {path: path.read_text(encoding="utf-8") for path in ours}
    return [
        found
        for path, text in texts.items()
        if any(word in text for word in words)
        for found in functions(path)
    ]


def test_whoever_writes_is_known_and_passes_the_door() -> None:
    functions = all_with("print(", "sys.std", "sys.__std", "os.write(", "pump.write(", "outgoing")
    writing = {place for place, node in functions if writes(node)}
    assert writing - THROUGH - OWN_WORDS.keys() == set(), "print through cli, or add the reason"
    told = {place for place, node in functions if asks_the_door(node)}
    assert told & writing >= THROUGH
    assert {"contextkit/hosts/flows/runner.py:_through_the_door",
            "contextkit/outputs/flows/telling.py:digested"} <= told  # fmt: skip


def test_only_what_was_asked_for_word_for_word_passes_as_it_is() -> None:
    found = {
        place
        for place, node in all_with("verbatim")
        for one in ast.walk(node)
        if isinstance(one, ast.Call) and ast.unparse(one.func) == "Answer"
        for word in one.keywords
        if word.arg == "verbatim"
    }
    assert found == VERBATIM.keys()


@each(
    ("source", "found"),
    [("print('x')", True), ("sys.stdout.buffer.write(b'')", True), ("os.write(1, b'')", True),
     ("f(sys.stderr)", True), ("cli.put('x')", False), ("os.write(file, b'')", False)],
)  # fmt: skip
def test_writing_is_recognized(source: str, found: bool) -> None:
    assert writes(ast.parse(source)) is found

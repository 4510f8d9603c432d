"""settings.py: what `contextkit.yaml` sets, and what is kept of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SCRIPTS, each
from contextkit.base import files, packages, settings
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.settings import Limits
from hypothesis import given
from hypothesis import strategies as st

FILE = Path("contextkit.yaml")
CACHE = Path(".contextkit/settings")


def write(text: str) -> None:
    FILE.write_text(text, encoding="utf-8")


def load() -> settings.Values:
    return settings.of_repository(os.getcwd())


def refused(text: str) -> str:
    """What is said of a settings file when a command starts; nothing of it is kept as checked."""
    write(text)
    said = []
    for _ in range(2):  # read, then from the cache if it got there
        with pytest.raises(ContextError) as refusal:
            Layout()
        assert refusal.value.status == 2
        said.append(str(refusal.value))
    assert said[0] == said[1]
    return said[0]


EVERY_KIND = """\
# a comment
capsule_max_tokens: 900
memory_phase_transition: off
payload_idle: 12h
handoff_profiles:
  - agents/{agent}.md
  - "with a blank/{agent}.md"
capsules: " docs/capsules"
"""
ITS_VALUES: settings.Values = {
    "capsule_max_tokens": 900,
    "memory_phase_transition": False,
    "payload_idle": "12h",
    "handoff_profiles": ("agents/{agent}.md", "with a blank/{agent}.md"),
    "capsules": " docs/capsules",
}


def test_without_a_file_nothing_is_set_and_nothing_is_kept() -> None:
    assert load() == {} and not Path(".contextkit").exists()


@each("text", ["", "\n\n", "# one\n  # two\n\n", "#capsule_max_tokens: 900"])
def test_a_file_of_comments_sets_nothing(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "_parsed", pytest.fail)
    write(text)
    assert load() == {} and not Path(".contextkit").exists()


def yaml_is_imported() -> bool:
    """Whether a real process that starts here imports yaml."""
    program = """if True:
        import sys
        from contextkit.base.layout import Layout
        Layout()
        print('yaml' in sys.modules)
    """
    command = [sys.executable, "-c", program]
    return (
        subprocess.check_output(command, env={**os.environ, "PYTHONPATH": str(SCRIPTS)})
        == b"True\n"
    )


def test_yaml_is_imported_once_an_edit_and_never_for_comments() -> None:
    write("# capsule_max_tokens: 900\n")
    assert not yaml_is_imported()
    write(EVERY_KIND)
    assert [yaml_is_imported(), yaml_is_imported()] == [True, False]


def test_every_kind_of_value_is_read_and_comes_back_from_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    write(EVERY_KIND)
    assert load() == ITS_VALUES
    assert Path(".contextkit/.gitignore").read_text(encoding="utf-8") == "*\n"
    monkeypatch.setattr(settings, "_parsed", pytest.fail)
    assert load() == ITS_VALUES
    layout = Layout()
    assert (layout.limits.capsule_max_tokens, layout.limits.capsule_mini_tokens) == (900, 300)
    assert layout.places.capsules == " docs/capsules"


@each("word", ["true", "yes", "on", "false", "no", "off", "Yes", "OFF"])
def test_a_word_for_yes_or_no_is_one_only_where_that_is_asked_for(word: str) -> None:
    write(f"memory_transcripts: {word}\ncapsules: {word}\n")
    assert load() == {
        "memory_transcripts": word.lower() in ("true", "yes", "on"),
        "capsules": word,
    }


def test_a_number_stays_a_text_where_a_text_is_asked_for() -> None:
    write("capsules: 2025\n")
    assert load() == {"capsules": "2025"}


def test_without_packages_what_is_plain_is_read_and_the_rest_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ContextError(f"the package {name} is missing")

    monkeypatch.setattr(packages, "need", missing)
    write("capsule_max_tokens: 900\n")
    assert load() == {"capsule_max_tokens": 900}
    write("handoff_profiles: {a: [b]}\n")
    with pytest.raises(ContextError, match="the package yaml is missing"):
        load()


def test_a_file_has_at_most_65536_bytes() -> None:
    write("#" * 65_536)
    assert load() == {}


def test_an_empty_list_comes_back_from_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    write("handoff_profiles: []\n")
    assert load() == {"handoff_profiles": ()}
    monkeypatch.setattr(settings, "_parsed", pytest.fail)
    assert load() == {"handoff_profiles": ()}


lines = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="\ufffe\uffff"), min_size=1
)


@given(st.lists(lines), st.dictionaries(lines, st.lists(lines)))
def test_the_cache_gives_back_what_was_read(paths: list[str], processes: dict[str, Any]) -> None:
    found = {"handoff_profiles": paths, "processes": processes, "capsules": "a place"}
    settings._keep(str(CACHE), "key", found)
    assert settings._kept(str(CACHE), "key") == {**found, "handoff_profiles": tuple(paths)}
    data = CACHE.read_bytes().rstrip()
    for end in (*range(1, len(data), len(data) // 20 + 1), len(data) - 1):
        CACHE.write_bytes(data[:-end])  # as a power cut may leave it
        assert settings._kept(str(CACHE), "key") is None


@pytest.mark.parametrize("in_place", [True, False])
def test_an_edited_file_is_read_again(in_place: bool) -> None:
    write("capsule_max_tokens: 900\n")
    load()
    before = FILE.stat()
    if in_place:
        write("capsule_max_tokens: 800\n")  # the same size
        os.utime(FILE, ns=(before.st_atime_ns, before.st_mtime_ns + 1))
    else:
        Path("new").write_text("capsule_max_tokens: 800\n", encoding="utf-8")
        os.utime("new", ns=(before.st_atime_ns, before.st_mtime_ns))  # as a checkout may do
        os.replace("new", FILE)
    assert load() == {"capsule_max_tokens": 800}
    FILE.unlink()
    assert load() == {}


@each(
    "garbage",
    [
        b"",
        b"\n",
        b'2 2 3 4\n{"capsule_max_tokens": "5"}\n',
        b'9 9 9 9\n{"capsule_max_tokens": "5"}\n',
        b"\xff\x00\xfe",
        b'KEY\n{"no_such_setting": "5"}\n',
        b'KEY\n{"capsule_max_tokens": "many"}\n',
        b'KEY\n{"capsule_max_tokens": 5}\n',
        b'KEY\n["capsule_max_tokens"]\n',
        b'KEY\n{"memory_phase_transition": "perhaps"}\n',
    ],
)
def test_a_cache_of_garbage_is_passed_over(garbage: bytes) -> None:
    write("capsule_max_tokens: 900\n")
    load()
    key = CACHE.read_bytes().partition(b"\n")[0]
    CACHE.write_bytes(garbage.replace(b"KEY", key))
    assert load() == {"capsule_max_tokens": 900}
    assert CACHE.read_bytes() == key + b'\n{\n  "capsule_max_tokens": "900"\n}\n'


def test_a_repository_that_cannot_be_written_is_read_each_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def read_only(*_: object) -> str:
        raise OSError(30, "Read-only file system")

    write("capsule_max_tokens: 900\n")
    Path(".contextkit").write_text("a file is in the way", encoding="utf-8")
    assert load() == load() == {"capsule_max_tokens": 900}
    Path(".contextkit").unlink()
    monkeypatch.setattr(files, "write", read_only)
    assert load() == load() == {"capsule_max_tokens": 900}


@each(
    ("text", "complaint"),
    [
        ("capsule_max_token: 9", "no setting 'capsule_max_token' (did you mean 'capsule_max_tok"),
        ("zzz: 1", "no setting 'zzz'"),
        ("capsule_max_tokens: many", "capsule_max_tokens must be a whole number, not 'many'"),
        ("capsule_max_tokens: 1.5", "must be a whole number"),
        ("capsule_max_tokens: -1", "must be a whole number"),
        ("capsule_max_tokens: [1]", "must be a whole number"),
        ("capsules: {a: b}", "capsules must be a line of text"),
        ("processes: mine", "processes must be lines of `name: value` indented under it"),
        (f"capsule_max_tokens: {'9' * 5000}", "must be a whole number"),
        ("capsule_max_tokens: 0", "capsule_max_tokens must be at least 1, not 0"),
        ("memory_phase_transition: 2", "must be true or false, not '2'"),
        ("handoff_profiles: one", "handoff_profiles must be a list of lines, not 'one'"),
        ("handoff_profiles: [[a]]", "must be a line of text"),
        ("payload_idle: soon", "'soon' is not a duration"),
        ("payload_idle: 0h", "payload_idle must be longer than 0"),
        ("memory_warn_percent: 101", "memory_warn_percent is a percentage"),
        ("capsules: ''", "capsules must be a line of text"),
        ('capsules: "a\\nb"', "capsules must be a line of text"),
        ("capsules: /etc", "capsules: '/etc' must be a relative path inside the root"),
        ("capsules: ../up", "must be a relative path inside the root"),
        ("capsules: a/../../b", "must be a relative path inside the root"),
        ("capsules: .", "must be a relative path inside the root"),
        ("capsules: ./", "must be a relative path inside the root"),
        ("capsules: .git/hooks", "lies in a folder that is not meant for documents"),
        ("capsules: ./.git", "lies in a folder that is not meant for documents"),
        ("payloads: .//.contextkit/p", "lies in a folder that is not meant for documents"),
        ("payloads: .temp", "payloads: '.temp/' would hold memory ('.temp/memory/') too"),
        ("payloads: .clavain/./verdicts/", "would hold verdicts"),
        ("- a", "must be lines of `name: value`"),
        ("text", "must be lines of `name: value`"),
        ("a: b: c", "contextkit.yaml: not valid YAML in line 1"),
        ("capsule_max_tokens: 1\ncapsule_max_tokens: 2", "given twice"),
        ("#" * 70_000, "larger than 65536 bytes"),
    ],
)  # fmt: skip
def test_a_setting_that_is_wrong_is_refused_by_name(text: str, complaint: str) -> None:
    assert complaint in refused(text)


def test_the_least_and_the_most_that_a_setting_can_be_are_taken() -> None:
    text = "payload_idle: 1s\ncapsule_max_tokens: 1\nmemory_warn_percent: 100\n"
    FILE.write_text(text + "hook_tool_output_tokens: 0\n", encoding="utf-8")
    limits = Layout().limits
    assert (limits.payload_idle, limits.capsule_max_tokens) == ("1s", 1)
    assert (limits.memory_warn_percent, limits.hook_tool_output_tokens) == (100, 0)


def test_a_settings_file_that_cannot_be_read_is_named() -> None:
    FILE.mkdir()
    with pytest.raises(ContextError, match=r"contextkit\.yaml: cannot be read"):
        Layout()
    FILE.rmdir()
    FILE.write_bytes(b"# caf\xe9")
    with pytest.raises(ContextError, match=r"contextkit\.yaml: not UTF-8"):
        Layout()


@pytest.mark.golden
def test_the_limits_are_those_of_the_designs(golden: Callable[[str, str], None]) -> None:
    limits = Limits()
    golden("limits.txt", "".join(f"{n} = {getattr(limits, n)!r}\n" for n in Limits.fields()))

"""PreToolUse: which commands run under our wrapper, and that they run as they would without it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import each
from contextkit.base import names, version
from contextkit.hosts.flows import rewriting
from contextkit.text import shell as reader

from hooks import answer

pytestmark = pytest.mark.usefixtures("no_diagnostics")

SHELLS = [shell for shell in ("sh", "bash", "zsh") if shutil.which(shell)]
LONG = "seq -f 'line %g of a long output' 1 3000"


def asked(command: str, host: str = "claude", mode: str = "bypassPermissions", **more: Any) -> Any:
    """What the host is told about a command; None where it is left alone."""
    said = answer("PreToolUse", host, tool_name="Bash", permission_mode=mode,
                  tool_input={"command": command, **more}).get("hookSpecificOutput")  # fmt: skip
    assert said is None or said["hookEventName"] == "PreToolUse"
    return said


def wrapped(command: str, **more: Any) -> str:
    text = asked(command, **more)["updatedInput"]["command"]
    assert isinstance(text, str) and command.rpartition("&& ")[2] in text
    return text


@each(
    "command",
    ["pytest -q", "npm test", "FOO=1 make check", "git log -p", "git status && git diff", "ls -laR",
     "cargo build 2>&1", "grep -rn x .", "python -m pytest", "make; make x",
     "cd sub && npm test", "cd sub; make a\nmake b", "find . -name '*.py'", "a || b", "sh build.sh",
     "./run.sh # and wait", "docker build .",
     "git show HEAD", "git show --stat HEAD~1", "git commit -m 'x'", "git commit -am x",
     "git commit --amend --no-edit", "git -C sub commit -mx", "git log --grep=commit",
     "git revert --no-edit x",
     "terraform apply -auto-approve", "docker compose up -d", "ng test --watch=false",
     "grep -rn start src", "grep -rn x src -w", "ls dev", "pytest -k start", "cargo test serve",
     "go test ./... -run dev", "npm test -w web", "docker build -t app:dev .",
     "kubectl get pods -n dev",
     "make -C server", "make -f serve.mk all", "node build.js server", "eslint server.js",
     "pytest server", "helm template x --set env=dev", "npm run build",
     "curl -s http://x/y.json",
     "./configure --prefix=/usr", "kubectl apply -f k8s", "make 2>&1 | cat", "git log -p | cat",
     "echo start && pytest -q", "mkdir -p dev; make",
     "mkdir -p build && cd build && cmake .. && make", "export X=1; cd sub; make", "env",
     "cd sub && npm test; echo $?", "cd sub && make || true", "mkdir x && cd x && make\nmake b",
     "timeout 60 pytest -q", "timeout -k 5 60 npm test", "time cargo build", "env A=1 make",
     "rm_all --now", "npm run cat", "docker compose -f x.yaml build",
     # what another program runs for it, by the same rules
     "bash -c 'npm test'", "bash -euo pipefail -c 'make && pytest'", "sh -c \"make 'a b'\"",
     "bash x.sh -c cat", "find . -name '*.c' -exec gcc -c {} +", "find . -exec grep -n x {} +",
     "find cat -name less", "nice -n 5 make", "uv run pytest cat", "npx eslint .", "npx vite build",
     "docker exec web make", "docker exec web sh -c 'make'", "kubectl exec pod -- ls -la",
     "docker run --rm -v a:/b image make", "python -m flask routes",
     # what could ask, and does not
     "git stash show -p", "git clean -fdx -e keep", "git tag -am 'x' v1", "git tag v1",
     "git notes add -m x", "git config --list", "git commit -mpipe", "git merge x", "git pull",
     "python3.12 x.py", "rails routes", "journalctl -u x", "docker compose logs web", "php x.php",
     "rg -i -t py x", "ansible-playbook -i hosts -t web x.yml", "node --test",
     "kubectl exec -n dev x -- ls",
     "docker compose -f a.yaml logs web", "kubectl logs -lapp=frontend", "unzip -l a.zip",
     "crontab -l", "npx tsx x.ts",
     # the shell's own state, for one command
     "source .venv/bin/activate && pytest", ". ./env; make", "set -e; make", "PATH+=:x make",
     "echo y | python x.py", "printf 'a\\n' | node x.js", "make | python x.py | ./own",
     "ma\\\nke", "make \"a\\\"b;c\""],
)  # fmt: skip
def test_what_prints_much_runs_under_the_wrapper(repo: Path, command: str) -> None:
    said = asked(command, description="d", timeout=5000)
    assert "permissionDecision" not in said
    assert {"description", "timeout", "command"} == set(said["updatedInput"])
    assert rewriting.is_wrapped(said["updatedInput"]["command"])


@each(
    "command",
    [
        # reads files
        "cat a", "sed -n 1,5p a", "head a", "less a", "tail -f a", "git show HEAD:a", "bat a",
        "cd x && cat a", "git blame a", "git blame -C a",
        "jq . a.json", "awk 1 a", "git cat-file -p x",
        # pipelines that end in a filter of the agent's own
        "npm test | head", "pytest 2>&1 | tail -20", "make | grep error", "ls | wc -l", "a | jq .",
        "curl x | jq .a", "make | rg -i warn && echo", "pytest | tee log.txt",
        "a | sort | uniq -c", "x && a | tail -1", "a | xargs grep x", "a | tee file | tail",
        "make | python -c 'x'", "make | python3 -c 'x'", "make | python3.12 x.py",
        "make | perl -ne x", "make | perl -pe x", "make | perl -lane x", "make | ruby -ne x",
        "make | node -e x", "make | php -r x", "make | bash -c 'tail -3'", "make | awk 1",
        "make | gawk 1", "make | sed 1d", "make | cut -c1-80", "curl x | python -m json.tool",
        "make | uv run python -c x", "make | nice grep x", "make | mlr cat", "make | ts",
        "make | python -c 'x' && echo done", "make | column -t || true",
        # or are read by another program
        "zcat a", "bzcat a", "xzcat a", "zstdcat a", "gunzip -c a", "xz -dc a", "zless a",
        "unzip -p a.zip b", "svn cat a", "glow a.md", "pdftotext a -", "jless a", "fmt a",
        "bash -c 'cat x'", "sh -c 'make; head y'", "bash -lc 'tail -5 x'", "zsh -c 'x | head'",
        "bash -o pipefail -c 'make | tail'", "bash -euo pipefail -c 'cat x'", "bash --norc -c 'vi'",
        "bash -c 'make > log'", "bash -c \"bash -c 'cat x'\"", "bash -c \"cat \\\"a b\\\"\"",
        "bash -c 'for x in a; do make; done'", "sh -c 'echo x'", "cd x && bash -c 'cat y'",
        "find . -name x -exec cat {} \\;", "find . -exec less {} +", "find . -execdir head {} +",
        "find . -type f -exec wc -l {} +", "find . -ok rm {} \\;",
        "find . -exec grep -l x {} \\; -exec sed -n 1p {} \\;",
        "find . -exec sh -c 'cat $1' _ {} +",
        "fd x -x cat", "fd -X bat", "docker exec web cat x", "kubectl exec -n a pod -c b -- cat x",
        "docker run --rm -v a:/b image cat x", "docker exec web bash -c 'cat x'", "busybox cat x",
        "timeout 60 cat x", "timeout 60 bash -c 'cat x'", "env A=1 cat x", "time cat x",
        "cat a | cat", "timeout 9 npm run dev",
        "make | timeout 5 grep x", "make | cat | head", "make | cat -n",
        "nice -n 5 cat x", "parallel cat ::: a b", "ca\\\nt x", "PATH+=:x cat a", "$PAGER a",
        "source x; cat y",
        # ours
        "make payload_list", "make -C x context_status", "make verdict_table run=x",
        f"python {version.TOOLKIT}/scripts/verdict.py table", "tools/contextkit/scripts/run.py x",
        "contextkit status", "make run c=x",
        # somebody types
        "vim a", "ssh host", "git rebase -i x", "git add -p", "docker run -it x", "python",
        "sudo a",
        "npm test -- --watch", "docker logs -f x", "journalctl -f", "top",
        "psql x", "less", "man ls", "bash", "python -i",
        "git commit", "git commit --amend", "git -C sub commit -v", "git revert HEAD",
        "git rebase --continue", "git commit -am x -e", "npm init", "gh pr create --web",
        "make menuconfig", "terraform apply", "docker login", "kubectl edit x", "pytest --pdb",
        "python -m pdb x.py", "docker exec -i -t x sh", "kubectl exec --stdin --tty pod -- x",
        "docker exec -itu root web x", "docker compose exec web bash", "oc rsh x",
        "tig", "vimdiff a b", "nvim -d a b", "gvim a", "hx a", "micro a", "crontab -e", "visudo",
        "k9s", "aider --model x", "lazygit", "lazydocker", "gitui", "htop", "btop", "nvtop", "ncdu",
        "ranger", "nnn", "mc", "yazi", "fzf", "psql", "mysql -u root", "mariadb", "sqlite3 a.db",
        "redis-cli", "pgcli x", "cqlsh", "duckdb", "ssh -p 22 host", "nc -l 80", "minicom",
        "tmux attach", "screen -r", "zellij", "mutt", "neomutt", "lynx x", "irssi", "newsboat",
        "gdb a", "lldb a", "pdb x.py", "dlv test", "jdb x", "python3", "python3.12", "python3 -i x",
        "python -m IPython", "node", "irb", "pry", "iex -S mix", "ipython", "bpython", "php -a",
        "jshell", "erl", "ts-node", "deno", "lua5.4", "bc -l", "uv run python", "npx tsx",
        "poetry run ipython", "bundle exec pry", "bundle exec rails c", "rails c",
        "rails dbconsole",
        "php artisan tinker", "npm adduser", "gpg --edit-key x", "ssh-keygen", "sudoedit x",
        "git add -pA", "git clean -di", "git config -e", "git config --global --edit",
        "git tag -a v1", "git notes add", "git cherry-pick -e x", "git merge --edit x", "git am -i",
        "git branch --edit-description", "git citool", "git send-email x", "git rebase -ir x",
        "git --git-dir x commit", "git add -p list",
        # what does not end
        "kubectl get pods -w", "tsc --watch", "tsc -w", "jest --watchAll=true", "npm run dev",
        "npm start", "yarn dev:web", "npm run test:watch", "cd web && npx vite dev", "make serve",
        "python manage.py runserver", "python -m http.server 80", "docker compose up",
        "kubectl port-forward x 80", "npx http-server", "uvicorn app:a", "npm --prefix web run dev",
        "make -s serve", "make -sk -j4 dev", "node server.js", "python -u tools/serve.py --port 80",
        "npx vite", "npx -y http-server", "stdbuf -oL tail -f x", "npm run preview", "flask run",
        "streamlit run a.py", "fastapi run a.py", "aws configure", "tofu destroy", "env python",
        "python -m flask run", "rails s", "php -S x:80",
        "hugo server", "jupyter lab", "journalctl -fu x", "docker compose logs -ft web",
        "docker stats", "heroku logs --tail", "stern x", "ping x", "tcpdump", "fswatch .",
        "celery -A x worker", "kubectl proxy", "docker run image node server.js",
        # another agent
        "claude -p x", "codex exec -", "opencode run x", "cursor-agent x",
        # in the background, redirected, here-documents, and whatever is not plain
        "npm start &", "make > log", "make 2> log", "a < b", "cat <<E\nx\nE", "x $(cat a)", "x `y`",
        "for x in a; do b; done", "(a)", "if a; then b; fi", "a <(b)", "f() { a; }", "{ a; }",
        # a word in front, or the variable
        "command pytest", "CONTEXTKIT_RAW=1 pytest", "export CONTEXTKIT_RAW=1; make",
        "export CONTEXTKIT_RAW=1 && make", "env CONTEXTKIT_RAW=1 make", "CONTEXTKIT_RAW=1\nmake",
        "declare -x A=1 CONTEXTKIT_RAW=1; make", "cd x && CONTEXTKIT_RAW=1 make",
        "bash -c 'CONTEXTKIT_RAW=1 make'", "make 2>/dev/null.log",
        # the shell's own state, or nothing to shorten
        "cd sub", "export A=1", "exec make", "eval make", "source x", ". x", "mkdir a", "echo hi",
        "cp a b && mv c d", "make; cd sub", "cd a || make",
        "make && cd sub && ls", "mkdir x || cd x; make",
        "set -e; cd sub; make", "source x && cd sub && make",
        "rm -rf x; make",
        "", "   ", "# nothing", "a\0b",
    ],
)  # fmt: skip
def test_whatever_else_is_left_alone(repo: Path, command: str) -> None:
    assert asked(command) is None


@each(
    "given", [{}, {"tool_input": None}, {"tool_input": {"command": 7}}, {"tool_input": []},
              {"tool_input": {"command": "make", "run_in_background": True}}],
)  # fmt: skip
def test_what_is_no_command_that_the_host_waits_for_is_left_alone(repo: Path, given: Any) -> None:
    assert answer("PreToolUse", tool_name="Bash", **given) == {}
    assert answer("PreToolUse", tool_name="Read", tool_input={"command": "make"}) == {}


def test_it_is_off_with_a_word_and_with_the_variable(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXTKIT_RAW", "1")
    assert asked("make") is None
    monkeypatch.delenv("CONTEXTKIT_RAW")
    assert asked("make")
    (repo / "contextkit.yaml").write_text("hook_tool_output_tokens: off\n", encoding="utf-8")
    assert asked("make") is None


def test_not_a_word_of_a_command_is_changed_on_its_way(repo: Path) -> None:
    secret = "curl -H 'Authorization: Bearer ghp_" + "a1B2" * 9 + "' x password=hunter2hunter2"
    for command in (secret, "./x 'AKIA" + "Q7" * 8 + "'", "./x '<system-reminder>' \u202e\x1b[1m"):
        assert f"( {command}\n)" in wrapped(command)


def test_it_is_not_wrapped_twice_and_the_same_each_time(repo: Path) -> None:
    text = wrapped("make")
    assert text == wrapped("make") != wrapped("make x")
    assert asked(text) is None and rewriting.is_wrapped(text)


def shell(name: str, text: str, **more: Any) -> subprocess.CompletedProcess[str]:
    """Run a command as hosts do: by eval, after definitions of the user's."""
    start = "f() { echo from a function; }; X=kept; "
    end = " && pwd -P > here"
    more.setdefault("env", {**os.environ, "SESSION_ID": "s-1"})
    done: subprocess.CompletedProcess[str] = subprocess.run(
        [name, "-c", f"{start} eval {names.word(text)} {end}"],
        capture_output=True, encoding="utf-8", timeout=60, **more,
    )  # fmt: skip
    return done


@each("name", SHELLS)
@each(
    "command",
    ["f", "ls nowhere", "sh -c 'exit 7'", "f; false", "ls | cat -A | sort; ls x1", "ls $X",
     "test -f x; ls", "cd sub && ls", "mkdir -p sub && cd sub && ls", "export X=5; cd sub; ls $X",
     "echo a; cd nowhere; ls", "timeout 5 ls x3", "ls x4 | cat", "cd nowhere && ls",
     "cd nowhere && ls; f", "cd sub && ls nope; f", "cd sub && ls nope || f; ls",
     "cd sub && f\nls a",
     "mkdir no/where && cd no && ls || f; false", "cd nowhere && ls | cat; f; ls nope",
     "cd sub; f; ls nope",
     "sh -c 'printf \"no line end\"'", "f # comment", "f \\\n  more",
     "set -e; ls nowhere; f", ". ./nowhere; f", "f+=x f", "PATH+=:x; ls",
     "sh -c \"f; exit \\$((3+4))\"",
     "f \\\n| cat", "export Y=2; echo $Y; ls nope", "set -- 1 2; shift; ls $1",
     "sh -c 'echo é; printf \"\\0\"'"],
)  # fmt: skip
def test_a_short_output_status_and_folder_are_as_without(
    repo: Path, name: str, command: str
) -> None:
    (repo / "sub").mkdir(exist_ok=True)
    (repo / "sub" / "inside").touch()
    found = []
    for text in (command, _always(command)):
        done = shell(name, f"{{ {text}\n}} 2>&1")
        here = repo / "here"
        inside = [path for path in (here, repo / "sub" / "here") if path.exists()]
        told = [path.read_text(encoding="utf-8") for path in inside]
        for path in inside:
            path.unlink()
        found.append((re.sub(r"line \d", "line n", done.stdout), done.returncode, told))
    assert found[0] == found[1]


def _always(command: str) -> str:
    """The command wrapped, whether or not it is worth it."""
    from contextkit.base.layout import Layout
    from contextkit.hosts.documents.contracts import HookInput

    parts = reader.parse(command)
    assert parts
    given = HookInput(host="claude", event="PreToolUse", passed={"session_id": "s-1"})
    return rewriting.wrapped(command, parts, rewriting._sink(Layout(), given, command, None))


@pytest.mark.parametrize("name", SHELLS)
def test_a_long_output_of_a_failing_command_is_a_digest_with_its_status(
    repo: Path, name: str
) -> None:
    script = repo / "check"
    script.write_text(f"{LONG}\necho 'FAILED a.py::test_b - no' >&2\nexit 3\n", encoding="utf-8")
    done = shell(name, wrapped("sh ./check"))
    assert done.returncode == 3
    assert done.stdout.startswith("[exit 3 after") and "FAILED a.py::test_b - no" in done.stdout
    path = done.stdout.rpartition("@stored: ")[2].strip()
    assert path.startswith("shared/payloads/s-1/") and "line 1577 of" in (repo / path).read_text()


def test_documents_go_to_the_project_wherever_the_command_runs(repo: Path, tmp_path: Path) -> None:
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "check").write_text(LONG, encoding="utf-8")
    done = shell("bash", wrapped(f"cd {tmp_path}/else && sh ./check"))
    assert done.stdout.startswith("[exit 0 after")
    assert sorted(path.name for path in (tmp_path / "else").iterdir()) == ["check", "here"]
    assert len(list((repo / "shared" / "payloads" / "s-1").glob("*.md"))) == 1


@pytest.mark.parametrize("at", ["a folder", "it's", 'quo"te', "$HOME"])
def test_a_path_of_any_name(
    repo: Path, tmp_path: Path, at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / at).symlink_to(version.TOOLKIT)
    monkeypatch.setattr(version, "TOOLKIT", str(tmp_path / at))
    assert shell("sh", wrapped("ls nowhere")).returncode == 2


# Permissions


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's home, with the host's folder in it."""
    (tmp_path / "home" / ".claude").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    return tmp_path / "home"


def allow(path: Path, *rules: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"permissions": {"allow": list(rules)}}), encoding="utf-8")


@pytest.mark.parametrize("mode", ["default", "acceptEdits", "dontAsk"])
@each(
    ("rule", "command", "runs"),
    [
        ("Bash(npm test)", "npm test", True),
        ("Bash(npm test)", "npm test 2>&1", True),
        ("Bash(npm test)", "npm test --all", False),
        ("Bash(npm test)", "npm test && npm publish", False),
        ("Bash(npm test)", "FOO=1 npm test", False),
        ("Bash(npm test:*)", "npm test --all", True),
        ("Bash(npm test *)", "npm test --all 'a b'", True),
        ("Bash(npm test:*)", "npm tests", False),
        ("Bash(npm:*)", "cd sub && npm test", True),
        ("Bash(npm:*)", "npm test $X", False),
        ("Bash(npm:*)", "npm test *.js", False),
        ("Bash(npm * x:*)", "npm run x", False),
        ("Bash(* test)", "npm test", False),
        ("Bash", "make all", True),
        ("Bash(*)", "make all", True),
        ("Read", "make all", False),
        ("Bash(", "make all", False),
        ("Edit", "git log -p", True),
        ("Edit", "git status && git diff HEAD~3", True),
        ("Edit", "git diff --output=x", False),
        ("Edit", "git -c core.pager=x log", False),
        ("Edit", "ls -laR sub", True),
        ("Edit", "ls -la /etc", False),
        ("Edit", "git push", False),
    ],
)
def test_where_the_host_would_ask_a_command_is_left_alone(
    repo: Path, home: Path, mode: str, rule: str, command: str, runs: bool
) -> None:
    allow(home / ".claude" / "settings.json", rule)
    said = asked(command, mode=mode)
    assert (said or {}).get("permissionDecision") == ("allow" if runs else None)
    assert bool(said) == runs


def test_rules_of_a_project_hold_once_it_is_trusted(
    repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    allow(repo / ".claude" / "settings.local.json", "Bash(npm test)")
    assert asked("npm test", mode="default") is None
    known = {"projects": {str(repo): {"hasTrustDialogAccepted": True}}}
    (home / ".claude.json").write_text(json.dumps(known), encoding="utf-8")
    assert asked("npm test", mode="default")["permissionDecision"] == "allow"


@pytest.mark.parametrize("mode", ["plan", "auto", "whatever comes next"])
def test_where_rules_do_not_decide_it_is_left_alone(repo: Path, home: Path, mode: str) -> None:
    allow(home / ".claude" / "settings.json", "Bash")
    assert asked("npm test", mode=mode) is None


@each("text", ["", "[]", "{", '{"permissions": []}', '{"permissions": {"allow": 1}}'])
def test_settings_that_are_none_allow_nothing(repo: Path, home: Path, text: str) -> None:
    (home / ".claude" / "settings.json").write_text(text, encoding="utf-8")
    assert asked("npm test", mode="default") is None
    assert asked("git log", mode="default")


@pytest.mark.parametrize("kind", ["ask", "deny"])
@pytest.mark.parametrize("mode", ["default", "bypassPermissions"])
def test_where_a_rule_does_not_allow_the_user_sees_what_was_typed(
    repo: Path, home: Path, mode: str, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(repo))
    allow(home / ".claude" / "settings.json", "Bash")
    path = repo / ".claude" / "settings.json"
    path.parent.mkdir()
    for rule, alone in (("Bash(git push:*)", "git push x"), ("Bash(make)", "cd sub && make"),
                        ("Bash(git push:*)", "nice git push x"),
                        ("Bash(npm * x)", "npm run x"), ("Bash", "pytest")):  # fmt: skip
        path.write_text(json.dumps({"permissions": {kind: [rule]}}), encoding="utf-8")
        assert asked(alone, mode=mode) is None
        assert bool(asked("cargo test", mode=mode)) == (rule != "Bash")


def test_codex_is_told_to_allow_unless_a_policy_names_the_program(
    repo: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CODEX_HOME", raising=False)
    for mode in ("default", "bypassPermissions"):
        assert asked("npm test", "codex", mode)["permissionDecision"] == "allow"
    rules = home / ".codex" / "rules"
    rules.mkdir(parents=True)
    (rules / "default.rules").write_text(
        'prefix_rule(pattern=["npm", "publish"], decision="forbidden")\n', encoding="utf-8"
    )
    assert asked("npm test", "codex") is None
    assert asked("make && npm test", "codex") is None
    assert asked("make", "codex")

"""Start subagents with the context they need, watch them, take their results."""

from __future__ import annotations

import itertools
import sys
import time

from contextkit.base import cli, files, names, outgoing, tables
from contextkit.base.commands import JSON, REDACT, Answer, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background, lifecycle

ID = Option("id", "as subagent_status shows it, a slug, or latest", required=True, positional=True)
NOBODY = "No running subagents detected. Exiting monitor loop."
_SIGNS = {"stale": "?", "runtime": "^", "log": "!"}
_GLANCE = 1  # seconds after which a monitor notices that a subagent has ended
LAUNCH = (
    Option("slug", "a short name for the task", required=True),
    Option("role", "the name of a role file; reviewers and auditors get no capsule"),
    Option("scope", "the file that says what the work is"),
    Option("capsule", "a path, latest (default), or none"),
    Option("workstream", "whose newest capsule, if the branch has several"),
    Option("cmd", "the agent's command line: gets the prompt on standard input"),
    Option("type", "where it works (default: here)", choices=registry.KINDS),
    Option("timeout", "stop it after this long (90s, 30m; default: never)"),
    Option("max_tokens", "trim the capsule to this many tokens", kind="whole"),
    Option("deliverables", "files it must leave there", kind="items", single="deliverable"),
    REDACT,
)
END = (ID, Option("reason", "why, in a few words"))


@command("start a subagent with its prompt", *LAUNCH)
def launch(layout: Layout, args: Arguments) -> Answer:
    from contextkit.subagents.flows import launch as launching

    order = _order(layout, args)
    if order.lacks_capsule and cli.confirm("Print the prompt that makes one, and start nothing?"):
        from contextkit.capsules.flows import capture

        captured = capture.capture(layout, capture.Request(now=order.now))
        cli.say(f"nothing was started; the capsule goes to {layout.shown(captured.path)}")
        return Answer(text=captured.prompt, status=1)
    row = launching.launch(layout, order)
    if row["status"] == "awaiting_manual_launch":
        prompt_path = layout.found(row["prompt_path"])
        cli.say(f"no cmd= and no subagent_command: start your agent with {prompt_path}")
    return Answer(text=row["id"])


@command("print the prompt, start nothing", *LAUNCH)
def prompt(layout: Layout, args: Arguments) -> str:
    return str(_order(layout, args).prompt)


def _order(layout: Layout, args: Arguments) -> Any:
    from contextkit.subagents.flows import launch as launching

    typed = {name: vars(args)[name] for name in launching.Request.fields() if name != "now"}
    return launching.prepare(layout, launching.Request(now=names.now(), **typed))


@command(
    "list the subagents and what became of each",
    Option("id", "only this one", positional=True),
    Option("all", "include those cleaned up", kind="flag"),
    Option("unattended", "nobody reads the output: repeat the news next time", kind="flag"),
    JSON,
)
def status(layout: Layout, args: Arguments) -> Rows:
    now = names.now()
    rows, news = lifecycle.refresh(layout, now, args.id, args.unattended)
    cli.say_each(line for _, line in news)
    if not (args.all or args.id):
        rows = [row for row in rows if row.get("status") != "cleaned"]
    return background.rows(layout, background.look(layout, rows, now))


@command(
    "watch until none is running; status 1 after an alert",
    Option("id", "only this one", positional=True),
    Option("interval", "seconds between checks (default: 30)", kind="whole"),
    Option("iterations", "at most this many checks", kind="whole"),
    Option("threshold", "seconds of silence (default: 180)", kind="whole"),
    Option("runtime_threshold", "seconds of run time (default: 600)", kind="whole"),
    JSON,
)
def monitor(layout: Layout, args: Arguments) -> Answer:
    limits = layout.limits
    interval = args.interval or limits.subagent_interval
    quiet = args.threshold or limits.subagent_log_age
    longest = args.runtime_threshold or limits.subagent_run_time
    screen = _Screen()
    screen.say(f"every {interval} s; silent above {quiet} s, long above {longest} s")
    identity, alerted = args.id, False
    seen: dict[str, int] = {}  # consecutive looks with an alert, by subagent
    for polls in itertools.count(1):
        now = names.now()
        rows, news = lifecycle.refresh(layout, now, identity)
        if identity:
            identity = rows[0]["id"]  # keep the same one even if a newer one has its slug
        else:
            rows = [row for row in rows if row.get("status") != "cleaned"]
        watched = background.look(layout, rows, now, (quiet, longest))
        for _, line in news:
            screen.say(line)
        running = [agent for agent in watched if agent["status"] in ("running", "pending_launch")]
        dead = any(kind in ("failed", "timed_out") for kind, _ in news)
        alerted = _alerts(layout, running, seen, screen) or dead or alerted
        if not cli.for_programs():
            screen.show(layout, watched, now)
        given_up = any(count >= limits.subagent_alert_polls for count in seen.values())
        if given_up or not running or polls == args.iterations:
            break
        ids = {agent["id"] for agent in running}
        _pause(layout, [row for row in rows if row["id"] in ids], interval)
    if running:
        cli.say(f"Outstanding subagents: {', '.join(agent['id'] for agent in running)}")
    return Answer(text="" if running else NOBODY, status=int(alerted), data=watched)


def _pause(layout: Layout, running: list[registry.Row], interval: int) -> None:
    for _ in range(0, interval, _GLANCE):
        time.sleep(_GLANCE)
        if any(background.outcome(layout, row)[0] != row["status"] for row in running):
            return


class _Screen:
    """A monitor's output: a terminal is redrawn, anything else gets lines."""

    _SAID = 5  # messages shown below the subagents

    def __init__(self) -> None:
        self._drawn = sys.stdout is not None and sys.stdout.isatty()
        self._said: list[str] = []

    def say(self, line: str) -> None:
        if self._drawn:
            self._said = [*self._said, names.one_line(line)][-self._SAID :]
        else:
            cli.say(line)

    def show(self, layout: Layout, watched: list[background.Watched], now: int) -> None:
        """Print a look, or redraw the screen line by line, clearing what is left of the last."""
        if not self._drawn:
            table = tables.of(background.rows(layout, watched)) if watched else ""
            head, *rows = table.split("\n")
            signs = ("".join(_SIGNS.get(alert, "") for alert in each["alerts"]) for each in watched)
            rows = [f"{sign} {row}".lstrip() for sign, row in zip(signs, rows, strict=False)]
            cli.put("\n".join(filter(None, [f"--- {names.clock(now)} ---", head, *rows])))
            return
        import shutil

        width, height = shutil.get_terminal_size((80, 24))
        messages = [names.shortened(line, width - 1) for line in self._said]
        room = max(1, height - len(messages) - 3)
        head = f"  {'slug':<28}  {'status':<14}  {'running':>7}  {'silent':>7}  files"
        lines = [f"{names.clock(now)}  {len(watched)} subagents"[: width - 1], head[: width - 1],
                 *background.lines(watched, width - 1, room)]  # fmt: skip
        body = "".join(f"{outgoing.told(line)}\x1b[K\n" for line in [*lines, *messages])
        sys.stdout.write(f"\x1b[H{body}\x1b[J")
        sys.stdout.flush()


def _alerts(
    layout: Layout, running: list[background.Watched], seen: dict[str, int], screen: _Screen
) -> bool:
    """Report what is new about each subagent: an alert with its last words, or a recovery."""
    for agent in running:
        identity = agent["id"]
        before = seen.get(identity, 0)
        seen[identity] = before + 1 if agent["alerts"] else 0
        if agent["alerts"] and not before:
            words = background.last_words(layout, registry.find(registry.rows(layout), identity), 1)
            last = f"; its last line: {words}" if words else ""
            reason = ", ".join(agent["alerts"])
            screen.say(f"{identity} requires manual attention (reason: {reason}){last}")
        elif before and not agent["alerts"]:
            screen.say(f"{identity}: heartbeat recovered")
    return any(agent["alerts"] for agent in running)


@command(
    "hand in a report: payload, verdict, receipt",
    Option("agent", "the subagent's name", required=True),
    Option("status", "CLEAN, NEEDS_ATTENTION, BLOCKED, ERROR, COMPLETE, PARTIAL or FAILED",
           required=True),
    Option("summary", "one line", required=True),
    Option("file", "the report (default: standard input, if it is a pipe)"),
    Option("id", "its row (default: CONTEXT_SUBAGENT_ID, else by name)"),
    Option("session", "the session to store it under (default: SESSION_ID and so on)"),
    Option("type", "verdict, implementation, research (default: verdict)"),
    Option("model", "who concluded it"),
    Option("files_changed", "paths", kind="items", single="file-changed"),
    Option("tokens", "how many tokens it took", kind="whole"),
)  # fmt: skip
def finish(layout: Layout, args: Arguments) -> Answer:
    verdict = {
        "agent": args.agent, "status": args.status, "summary": args.summary,
        "type": args.type or "verdict", "model": args.model,
        "files_changed": args.files_changed, "tokens_spent": args.tokens or 0,
    }  # fmt: skip
    text = cli.content(args.file) if args.file or cli.is_piped() else ""
    try:
        receipt = lifecycle.finish(layout, verdict, text, names.now(), args.id, args.session)
        files.settle()
    except (OSError, ContextError) as error:
        if getattr(error, "status", 1) == 2 or not text:
            raise
        reason = getattr(error, "strerror", "") or error
        cli.say(f"storing failed ({reason}): the whole text follows on stdout")
        return Answer(text=text, status=1, exact=True, verbatim=True)
    return Answer(text=receipt, quoted=True)


@command("end a running subagent",
         *END, Option("force", "kill it without asking first", kind="flag"))  # fmt: skip
def abort(layout: Layout, args: Arguments) -> str:
    return lifecycle.abort(layout, args.id, args.reason, names.now(), args.force)


@command(
    "remove a subagent's sandbox and files; its row stays",
    *END,
    Option("force", "even if it runs, or work would be lost", kind="flag"),
)
def cleanup(layout: Layout, args: Arguments) -> str:
    return lifecycle.cleanup(layout, args.id, args.force, args.reason, names.now())


PROGRAM = Program(
    name="subagent_manager",
    about=__doc__ or "",
    commands=(launch, prompt, status, monitor, finish, abort, cleanup),
)

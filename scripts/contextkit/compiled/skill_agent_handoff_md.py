"""Compiled from templates/skill_agent_handoff.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 1785318133374372330
name = 'skill_agent_handoff.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    pass
    yield '---\nname: agent-handoff\ndescription: Hand over to another agent or persona with an artifact of at most 500 tokens in place of the whole conversation. Use it when the user switches agents (@qa, @dev, "let the reviewer take over") or when you take over from another agent.\n---\n\n# Handing over to another agent\n\nRun these from the root of the repository.\n\nBefore you hand over, write down what the next agent cannot see in the files:\n\n    make -s handoff from=dev to=qa story_id=1.2 next_action="Test the login form" \\\n      decisions="Sessions in cookies | No retries" files="src/login.py" blockers="No test account yet"\n\nLists take items separated by ` | `: at most 5 decisions, 10 files, 3 blockers; the path of the artifact is printed.\n\n| to | run |\n|---|---|\n| write it and get the incoming agent\'s context | `make -s handoff_switch to=qa next_action="…"` |\n| take over: read what was left for you | `make -s handoff_context to=qa` |\n| see the artifacts | `make -s handoff_list` |\n| say that you have read one | `make -s handoff_consume` |\n\nAs the incoming agent, work from the artifact and from the files it names; do not ask for the old conversation.\n'

blocks = {}
debug_info = ''
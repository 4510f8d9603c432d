"""Compiled from templates/guide.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 873461889655566907
name = 'guide.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_run = resolve('run')
    l_0_asked = resolve('asked')
    pass
    yield '# Payloads: long output on disk, a short receipt in the context\n\nStore a text of more than 500 tokens and pass on what is printed (at most 300 tokens) in its place:\n\n    '
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' payload_store topic="what it is about" source=your-agent-name < report.md\n\nSum the text up yourself: `summary="…" key_findings="… | …" confidence=high`, or a `## Summary` section\nin the text. A text within the budget comes back unchanged, and nothing is stored.\n\nIf another agent asked you, put a report above 1,000 words into a file or the store, and answer in at\nmost 250 tokens: '
    yield str((undefined(name='asked') if l_0_asked is missing else l_0_asked))
    yield '.\n\n| to | run |\n|---|---|\n| see what is stored | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' payload_list` |\n| read the summary of one | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' payload_show ref=latest part=summary` |\n| read a part of one, by lines of its text, not of its file | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' payload_show ref=latest lines=1-40` |\n| find words in all of them | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' payload_find q="login slow"` |\n| run a command that may print a lot | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' run c="git status && git log"` |\n\nHooks shorten long command outputs automatically; `CONTEXTKIT_RAW=1` before a command keeps its output whole.\n\n`ref` is an id from the list, `latest`, or a whole `@stored:` line. The path in a receipt is a file in the\nrepository: open it at the lines that the receipt names. Keep what must stay with `path=docs/report.md`.\n\n# Reviews: many reviewers, one table, open only what is urgent\n\nStart a run; each agent gets a prompt file and a path to write to, and both are printed:\n\n    '
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' verdict_start process=review agents="safety style" target=src\n\nIt reviews what differs from the main branch; on that branch itself, say since when: `base=HEAD~1`.\n\n| to | run |\n|---|---|\n| print the contract that an agent follows | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' verdict_contract run=latest agent=safety` |\n| wait for every file | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' verdict_wait run=latest timeout=600` |\n| get the table | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' verdict_ingest run=latest` |\n| open the serious findings | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' verdict_show run=latest severity=P0,P1` |\n| decide | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' verdict_gate run=latest` |\n| after a fix, ask again about what changed | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' verdict_recheck run=latest` |\n| read a folder of reviews | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' verdict_ingest dir=docs/review` |\n\nAs a reviewer without a run, record your conclusion when you are done:\n\n    '
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' verdict_write agent=your-name status=NEEDS_ATTENTION summary="Tokens are logged"\n\nA status is one of CLEAN, NEEDS_ATTENTION, BLOCKED, ERROR, COMPLETE, PARTIAL, FAILED.\n\n# Handoffs: from one agent to the next in 500 tokens\n\nWrite down what the next agent cannot see in the files. Items of a list are separated by ` | `: at most\n5 decisions, 10 files, 3 blockers. The path of the artifact is printed.\n\n    '
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' handoff from=dev to=qa next_action="Test the login form" \\\n      decisions="Sessions in cookies | No retries" files="src/login.py" blockers="No test account yet"\n\n| to | run |\n|---|---|\n| write it and get the incoming agent\'s context | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' handoff_switch to=qa next_action="Test it"` |\n| take over: read what was left for you | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' handoff_context to=qa` |\n| see the artifacts | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' handoff_list` |\n| mark one as read | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' handoff_consume` |\n\nAs the incoming agent, work from the artifact and from the files it names. An open blocker stays until\n`resolved="its first words"` closes it, best with the answer: `resolved="1: the key is in the vault"`.\n\n# Memory: plans, findings, checkpoints, recovery\n\n`task` is a short name that you choose once. Save at the end of a phase, before and after a complex\ndecision, when the user says "save progress", and when you are unsure what to do next.\n\n| when | run |\n|---|---|\n| a long task starts | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_plan task=login objective="A login form" pending="form \\| token"` |\n| several agents are about to start | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_spawn task=login agents="ui api"` |\n| an agent\'s report has arrived | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_finding agent=ui task=login file=report.md` |\n| you have found something out | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_finding agent=you task=login status=completed summary="…"` |\n| findings should become one document | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_merge task=login` |\n| progress should be saved | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_checkpoint task=login phase=planning summary="…" next_action="…"` |\n| the context is nearly full | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_snapshot task=login summary="…" resume="…"` |\n| unsure how full it is | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_status tokens=120000` |\n| after a compaction or a crash | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_recover task=login` |\n| the task is done | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' memory_archive task=login` |\n\nPhases are exploration, planning, implementation, review; a finding is completed, partial or failed. The\nfirst word of `memory_status` is `ok`, `warn` or `save`: at `save`, write a checkpoint first.\n\n# Capsules: what a fresh subagent must know, in 1,200 tokens\n\nGet the prompt, write the capsule it asks for, and save it. If there are problems, each is listed with\nits line and nothing is written:\n\n    '
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' capsule_prompt\n    '
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' capsule_save < capsule.md\n\n| to | run |\n|---|---|\n| start a subagent with the newest capsule | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' subagent_launch slug=tests scope=scope.md` |\n| save a note for the next capsule | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' remember_later m="The user wants small commits"` |\n| see the open notes | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' reminders` |\n| take notes off the list | `'
    yield str((undefined(name='run') if l_0_run is missing else l_0_run))
    yield ' reminder_done id="r-1a2b3c"` |\n\nLink each decision to its file, plan entry or commit instead of explaining it again. No secrets.\n'

blocks = {}
debug_info = '5=14&11=16&15=18&16=20&17=22&18=24&19=26&30=28&36=30&37=32&38=34&39=36&40=38&41=40&42=42&46=44&55=46&60=48&61=50&62=52&63=54&75=56&76=58&77=60&78=62&79=64&80=66&81=68&82=70&83=72&84=74&94=76&95=78&99=80&100=82&101=84&102=86'
"""Compiled from templates/contract_review.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 568760057075347805
name = 'contract_review.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_path = resolve('path')
    l_0_run = resolve('run')
    l_0_files = resolve('files')
    l_0_sentinel = resolve('sentinel')
    pass
    yield '## Output Contract\n\nWrite ALL findings to `'
    yield str((undefined(name='path') if l_0_path is missing else l_0_path))
    yield '`.\nDo NOT return findings in your response text.\nYour response text should be a single line: "Findings written to '
    yield str((undefined(name='path') if l_0_path is missing else l_0_path))
    yield '"\n\nWrite to that name plus `.partial`, rename it last.\n\nFile structure:\n\n'
    if (undefined(name='run') if l_0_run is missing else l_0_run):
        pass
        yield '<!-- run-uuid: '
        yield str((undefined(name='run') if l_0_run is missing else l_0_run))
        yield ' -->\n'
    yield '### Findings Index\n- SEVERITY | ID | "Section" | Title\nVerdict: safe|needs-changes|risky\n\n### Summary\n'
    if (undefined(name='run') if l_0_run is missing else l_0_run):
        pass
        yield 'Read: n of '
        yield str(((undefined(name='files') if l_0_files is missing else l_0_files) or 'n'))
        yield ' files\nCounts: P0 0, P1 0, P2 0, P3 0\n'
    yield '[3-5 sentences]\n\n### Issues Found\n#### ID. SEVERITY: Title\n[details, file:line; or None.]\n\n### Improvements\n#### IMP-1. Title\n\n<!-- '
    yield str((undefined(name='sentinel') if l_0_sentinel is missing else l_0_sentinel))
    yield ' -->\n\nA row per finding: P0 to P3 or IMP, each ID once, like P1-2. Any P0: risky; any P1: needs-changes; else safe. Unable: only `Verdict: error`, and why.\n'

blocks = {}
debug_info = '3=16&5=18&11=20&12=23&19=26&20=29&32=32'
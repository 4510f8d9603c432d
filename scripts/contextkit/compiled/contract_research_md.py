"""Compiled from templates/contract_research.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 756597188912584280
name = 'contract_research.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_path = resolve('path')
    l_0_run = resolve('run')
    l_0_sentinel = resolve('sentinel')
    pass
    yield '## Output Contract\n\nWrite ALL findings to `'
    yield str((undefined(name='path') if l_0_path is missing else l_0_path))
    yield '`.\nDo NOT return findings in your response text.\nYour response text should be a single line: "Findings written to '
    yield str((undefined(name='path') if l_0_path is missing else l_0_path))
    yield '"\n\nWrite to that name plus `.partial`, and rename it when all is written.\n\nFile structure:\n\n'
    if (undefined(name='run') if l_0_run is missing else l_0_run):
        pass
        yield '<!-- run-uuid: '
        yield str((undefined(name='run') if l_0_run is missing else l_0_run))
        yield ' -->\n'
    yield '### Sources\n- [file:line or URL: what it says]\n\n### Findings\n#### [one finding]\n[detailed findings, with sources]\n\n### Confidence\n[high, medium or low, and why]\n\n### Gaps\n[what is open, or none; "Significant gap" where it matters]\n\n<!-- '
    yield str((undefined(name='sentinel') if l_0_sentinel is missing else l_0_sentinel))
    yield ' -->\n\nAll four sections, however short. Unable to research: only `### Findings Index`, `Verdict: error`, and why.\n'

blocks = {}
debug_info = '3=15&5=17&11=19&12=22&27=25'
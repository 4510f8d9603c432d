"""Compiled from templates/capsule_outline.md.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 421084749264733129
name = 'capsule_outline.md'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_capsule = resolve('capsule')
    l_0_reminders = resolve('reminders')
    l_0_plan = resolve('plan')
    l_0_progress = resolve('progress')
    try:
        t_1 = environment.filters['indented']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'indented' found.")
    try:
        t_2 = environment.filters['joined']
    except KeyError:
        @internalcode
        def t_2(*unused):
            raise TemplateRuntimeError("No filter named 'joined' found.")
    try:
        t_3 = environment.filters['quoted']
    except KeyError:
        @internalcode
        def t_3(*unused):
            raise TemplateRuntimeError("No filter named 'quoted' found.")
    pass
    yield '---\nbranch: '
    yield str(t_3(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'branch')))
    yield '\nsource_session: '
    yield str(t_3(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'source_session')))
    yield '\ncreated_at: '
    yield str(t_3(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'created_at')))
    yield '\nprimary_objective: '
    yield str(t_3(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'primary_objective'), True))
    yield '\ntoken_budget: '
    yield str(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'token_budget'))
    yield '\nversion: '
    yield str(t_3(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'version')))
    yield '\n'
    if environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'mini'):
        pass
        yield 'mini: true\n'
    if environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'workstream'):
        pass
        yield 'workstream: '
        yield str(t_3(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'workstream'), True))
        yield '\n'
    if environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'replaces'):
        pass
        yield 'replaces: '
        yield str(t_3(environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'replaces'), True))
        yield '\n'
    yield '---\n# Mission Snapshot\n- **User intent:** <what the user wants, in at most two sentences>\n- **Current status:** <where the work stands now>\n\n'
    if (not environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'mini')):
        pass
        yield '# Key Decisions & Rationale\n1. <decision> — why: <reason or evidence, with the commit or plan entry>\n\n# Active Workstreams\n- <workstream> → scope: <what belongs to it>; owner: <who>; due: <when>; blockers: <what stops it>\n\n'
    yield '# Pending Actions\n- [ ] <action> (owner: <who>, trigger: <when it is due>)\n\n'
    if (not environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'mini')):
        pass
        yield '# Knowledge Base\n- Files and documents: <path:line — what it holds>\n- APIs and services: <endpoint — contract, limits, how access is granted>\n\n'
    yield '# Risks & Watchpoints\n- <risk> — mitigation: <what reduces it>; watch: <what would show it>\n\n'
    if (not environment.getattr((undefined(name='capsule') if l_0_capsule is missing else l_0_capsule), 'mini')):
        pass
        yield '# Transcript Highlights\n- <time or log reference> — <what was concluded> (<plan entry, progress entry or commit>)\n\n# Exploratory Threads & User Preferences\n'
        for l_1_reminder in (undefined(name='reminders') if l_0_reminders is missing else l_0_reminders):
            _loop_vars = {}
            pass
            yield '- **'
            yield str((t_1(environment.getattr(l_1_reminder, 'topic')) or 'Reminder'))
            yield '** ('
            yield str(environment.getattr(l_1_reminder, 'id'))
            yield ', '
            yield str(environment.getattr(l_1_reminder, 'taken'))
            yield '): '
            yield str(t_1(environment.getattr(l_1_reminder, 'note')))
            yield '\n'
            if environment.getattr(l_1_reminder, 'tags'):
                pass
                yield '  - Tags: '
                yield str(t_1(t_2(environment.getattr(l_1_reminder, 'tags')), 4))
                yield '\n'
            yield '  - Next discovery step: '
            if environment.getattr(l_1_reminder, 'next_step'):
                pass
                yield str(t_1(environment.getattr(l_1_reminder, 'next_step'), 4))
            else:
                pass
                yield '<what to find out first, or whom to ask>'
            yield '\n'
        l_1_reminder = missing
        yield '- <topic> — hypothesis: <what is believed now>; origin: <time or log where it came up>\n  - Evidence missing: <what would settle it>\n  - Next discovery step: <what to find out first, or whom to ask>\n- **Preference:** <what the user wants remembered>\n\n# Consistency Checklist\n- [ ] Agrees with the branch plan ('
        yield str((undefined(name='plan') if l_0_plan is missing else l_0_plan))
        yield ')\n- [ ] Agrees with the progress notebook ('
        yield str((undefined(name='progress') if l_0_progress is missing else l_0_progress))
        yield ")\n- [ ] Every commit named here is in the branch's history (`git log`), and `git status` holds no surprise\n- [ ] Secrets and personal data are removed\n"

blocks = {}
debug_info = '2=34&3=36&4=38&5=40&6=42&7=44&8=46&11=49&12=52&14=54&15=57&22=60&33=64&42=68&47=71&48=75&49=83&50=86&52=89&60=98&61=100'
"""Compiled from templates/report.html.j2 by `make setup`; do not edit."""

from contextkit.base.templates import LoopContext, environment, missing

Undefined = TemplateRuntimeError = None
internalcode = lambda function: function
SOURCE = 2255574808911343318
name = 'report.html'

def root(context, missing=missing):
    resolve = context.resolve_or_missing
    undefined = environment.undefined
    concat = environment.concat
    cond_expr_undefined = Undefined
    if 0: yield None
    l_0_root = resolve('root')
    l_0_made = resolve('made')
    l_0_version = resolve('version')
    l_0_needs = resolve('needs')
    l_0_spent = resolve('spent')
    l_0_most = resolve('most')
    l_0_days = resolve('days')
    l_0_tables = resolve('tables')
    l_0_evaluation = resolve('evaluation')
    l_0_counts = resolve('counts')
    l_0_kinds = resolve('kinds')
    l_0_flow = resolve('flow')
    l_0_timeline = resolve('timeline')
    l_0_machines = resolve('machines')
    l_0_data = resolve('data')
    try:
        t_1 = environment.filters['grouped']
    except KeyError:
        @internalcode
        def t_1(*unused):
            raise TemplateRuntimeError("No filter named 'grouped' found.")
    pass
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; script-src \'{{script_hash}}\'; style-src \'{{style_hash}}\'; base-uri \'none\'; form-action \'none\'">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="referrer" content="no-referrer">\n<title>contextkit: what was carried</title>\n<style>\n:root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --dim: #57606a; --line: #d0d7de; --card: #f6f8fa;\n  --link: #0a5fb4; --kept: #1a7f5a; --receipts: #2f6fc4; --asked: #b35c00; --shown: #8250c4; --rest: #6e7781; --bad: #b3261e; }\n@media screen and (prefers-color-scheme: dark) { :root { --back: #0d1117; --text: #e6edf3; --dim: #a5adb8; --line: #30363d; --card: #161b22;\n  --link: #6cb6ff; --kept: #2f9e72; --receipts: #5b9bea; --asked: #e0913d; --shown: #b18cf0; --rest: #8b949e; --bad: #ff8a80; } }\n@media print { :root { color-scheme: light; } }\n* { box-sizing: border-box; }\nbody { margin: 0 auto; padding: 1.25rem; max-width: 62rem; background: var(--back); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }\nh1 { font-size: 1rem; margin: 0; } h2 { font-size: 1.35rem; line-height: 1.25; margin: 2.5rem 0 .75rem; } h3 { font-size: 1rem; margin: 1.75rem 0 .25rem; }\nheader { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; }\np { margin: .25rem 0 .75rem; } a { color: var(--link); } .dim { color: var(--dim); }\nheader p { margin: 0; font-size: .85rem; }\ncode { font: .85em ui-monospace, monospace; overflow-wrap: anywhere; background: var(--card); border-radius: .25rem; padding: .1em .3em; }\n:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }\n.skip { position: absolute; left: -99rem; } .skip:focus { left: 1rem; top: .5rem; background: var(--back); padding: .5rem; }\n.big { font-size: 1.15rem; } .big b { font-size: 2.1rem; line-height: 1.2; margin-right: .15rem; font-variant-numeric: tabular-nums; }\n.fine { color: var(--kept); font-weight: 600; }\n.needs { list-style: none; margin: 0; padding: 0; }\n.needs > li { border-left: .25rem solid var(--asked); background: var(--card); border-radius: 0 .4rem .4rem 0; padding: .5rem .8rem; margin: 0 0 .6rem; }\n.needs ul { margin: .35rem 0 0; padding-left: 1.1rem; font-size: .9rem; } .needs .do { float: right; margin-left: 1rem; background: none; }\n.needs li::after { content: ""; display: block; clear: both; }\nfigure { margin: .5rem 0 0; } figcaption { font-size: .9rem; color: var(--dim); margin: 0 0 .4rem; }\nsvg { display: block; width: 100%; overflow: visible; print-color-adjust: exact; -webkit-print-color-adjust: exact; }\nsvg text { fill: var(--text); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; } svg .d { fill: var(--dim); } svg .e { text-anchor: end; } svg .m { text-anchor: middle; }\n.kept { fill: var(--kept); background: var(--kept); } .receipts { fill: var(--receipts); background: var(--receipts); } .asked { fill: var(--asked); background: var(--asked); }\n.shown { fill: var(--shown); background: var(--shown); } .rest { fill: var(--rest); background: var(--rest); } .track { fill: var(--card); } .bad { fill: var(--bad); background: var(--bad); }\n.axis { stroke: var(--line); } .whisker { stroke: var(--text); stroke-width: 2; } .curve { fill: none; stroke: var(--kept); stroke-width: 2; } .under { fill: var(--kept); fill-opacity: .15; }\n.band { fill-opacity: .5; } .band.rest { fill-opacity: .25; } .mark { stroke: var(--back); stroke-width: 3; paint-order: stroke; }\n.key { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: .3rem 0; padding: 0; font-size: .9rem; }\n.key i { display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem; border-radius: .15rem; print-color-adjust: exact; -webkit-print-color-adjust: exact; }\n.key svg { display: inline-block; width: 14px; height: 14px; margin-right: .3rem; vertical-align: -2px; }\ndetails { margin: .4rem 0; font-size: .9rem; } summary { cursor: pointer; color: var(--dim); }\n.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .875rem; }\ncaption { text-align: left; color: var(--dim); padding: .25rem 0; }\nth, td { text-align: left; padding: .3rem .75rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; } td { overflow-wrap: anywhere; min-width: 3.5rem; } td.n { font-variant-numeric: tabular-nums; }\nlabel { font-weight: 600; } .filters { display: flex; flex-wrap: wrap; gap: .75rem; margin: .5rem 0; } .filters p { margin: 0; }\ninput, select { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--dim); border-radius: .3rem; padding: .3rem .5rem; max-width: 100%; }\n@media (max-width: 40rem) { body { padding: .75rem; } .needs .do { float: none; display: block; margin: .2rem 0 0; padding-left: 0; } .filters p, .filters input { width: 100%; } }\n@media print { body { max-width: none; padding: 0; } nav, .skip, .filters, #documents, #list, details { display: none; } h2, figcaption { break-after: avoid; } figure, .needs > li { break-inside: avoid; } }\n</style>\n</head>\n<body>\n<a class="skip" href="#main">Skip to the content</a>\n<header><h1>What was carried</h1><p class="dim" id="made">'
    yield str((undefined(name='root') if l_0_root is missing else l_0_root))
    yield ' · made '
    yield str((undefined(name='made') if l_0_made is missing else l_0_made))
    yield ' · contextkit '
    yield str((undefined(name='version') if l_0_version is missing else l_0_version))
    yield ' · tokens are estimated</p></header>\n<nav aria-label="Parts of this page"><a href="#attention">What needs me</a> · <a href="#help">Does it help</a> · <a href="#flow">Where did it go</a> · <a href="#documents">All documents</a></nav>\n<main id="main" tabindex="-1">\n<section aria-labelledby="attention"><h2 id="attention">What needs me</h2>\n'
    if (undefined(name='needs') if l_0_needs is missing else l_0_needs):
        pass
        yield '<ul class="needs">\n'
        for l_1_need in (undefined(name='needs') if l_0_needs is missing else l_0_needs):
            _loop_vars = {}
            pass
            yield '<li><code class="do">'
            yield str(environment.getattr(l_1_need, 'command'))
            yield '</code><b>'
            yield str(environment.getattr(l_1_need, 'id'))
            yield '</b>: '
            yield str(environment.getattr(l_1_need, 'said'))
            yield '\n'
            if environment.getattr(l_1_need, 'which'):
                pass
                yield '<ul>'
                for l_2_doc in environment.getattr(l_1_need, 'which'):
                    _loop_vars = {}
                    pass
                    yield '<li>'
                    yield str(environment.getattr(l_2_doc, 'why'))
                    yield ' <code>'
                    yield str(environment.getattr(l_2_doc, 'open'))
                    yield '</code></li>'
                l_2_doc = missing
                yield '</ul>\n'
            yield '</li>\n'
        l_1_need = missing
        yield '</ul>\n'
    else:
        pass
        yield '<p class="fine">Nothing needs you.</p>\n'
    yield '</section>\n\n<section aria-labelledby="help"><h2 id="help">Does it help</h2>\n'
    if environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'stored'):
        pass
        if (environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'net') < 0):
            pass
            yield '<p class="big"><b>'
            yield str(t_1((0 - environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'net'))))
            yield '</b> tokens more went into contexts than agents wrote: '
            yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'stored')))
            yield ' in '
            yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'documents')))
            yield ' texts.</p>\n'
        else:
            pass
            yield '<p class="big"><b>'
            yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'net')))
            yield '</b> tokens, net, stayed out of contexts: '
            yield str(('%.0f' % ((environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'net') * 100) / environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'stored'))))
            yield '% of the '
            yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'stored')))
            yield ' that agents wrote in '
            yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'documents')))
            yield ' texts.</p>\n'
        yield '<figure>\n<figcaption>What agents wrote, and what went into contexts instead</figcaption>\n'
        l_0_most = (environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'stored') if (environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'stored') > environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'costs')) else environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'costs'))
        context.vars['most'] = l_0_most
        context.exported_vars.add('most')
        yield '<svg height="96" role="img" aria-label="'
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'stored')))
        yield ' tokens were written; '
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'receipts')))
        yield ' came in as receipts, '
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'asked')))
        yield ' in second turns, '
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'shown')))
        yield ' were opened again, '
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'card')))
        yield ' are card and skill">\n<text y="12">written</text><text x="100%" y="12" class="e">'
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'stored')))
        yield '</text>\n<rect class="kept" y="18" height="22" rx="3" width="'
        yield str(('%.2f' % ((environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'stored') * 100) / (undefined(name='most') if l_0_most is missing else l_0_most))))
        yield '%"/>\n<text y="62">went in instead</text><text x="100%" y="62" class="e">'
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'costs')))
        yield '</text>\n<rect class="track" y="68" height="22" rx="3" width="100%"/>\n<rect class="receipts" y="68" height="22" width="'
        yield str(('%.2f' % ((environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'receipts') * 100) / (undefined(name='most') if l_0_most is missing else l_0_most))))
        yield '%"/>\n<rect class="asked" y="68" height="22" x="'
        yield str(('%.2f' % ((environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'receipts') * 100) / (undefined(name='most') if l_0_most is missing else l_0_most))))
        yield '%" width="'
        yield str(('%.2f' % ((environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'asked') * 100) / (undefined(name='most') if l_0_most is missing else l_0_most))))
        yield '%"/>\n<rect class="shown" y="68" height="22" x="'
        yield str(('%.2f' % (((environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'receipts') + environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'asked')) * 100) / (undefined(name='most') if l_0_most is missing else l_0_most))))
        yield '%" width="'
        yield str(('%.2f' % ((environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'shown') * 100) / (undefined(name='most') if l_0_most is missing else l_0_most))))
        yield '%"/>\n<rect class="rest" y="68" height="22" x="'
        yield str(('%.2f' % ((((environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'receipts') + environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'asked')) + environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'shown')) * 100) / (undefined(name='most') if l_0_most is missing else l_0_most))))
        yield '%" width="'
        yield str(('%.2f' % ((environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'card') * 100) / (undefined(name='most') if l_0_most is missing else l_0_most))))
        yield '%"/>\n</svg>\n<ul class="key"><li><i class="receipts"></i>receipts '
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'receipts')))
        yield '</li><li><i class="asked"></i>second turns '
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'asked')))
        yield '</li><li><i class="shown"></i>opened again '
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'shown')))
        yield '</li><li><i class="rest"></i>card and skill '
        yield str(t_1(environment.getattr((undefined(name='spent') if l_0_spent is missing else l_0_spent), 'card')))
        yield '</li></ul>\n</figure>\n\n'
        if (environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'count') > 1):
            pass
            yield '<figure>\n<h3>Net so far, and what each day added</h3>\n<figcaption>Above: tokens that stayed out, less what went in instead. Below: what was written each day, and under the line what went in.</figcaption>\n<svg height="250" role="img" aria-label="Net tokens that stayed out of contexts, day by day; the numbers are in the table below">\n<svg viewBox="0 0 '
            yield str(environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'count'))
            yield ' 100" preserveAspectRatio="none" height="76" y="24" aria-hidden="true">\n<polygon class="under" points="0.5,'
            yield str(('%.2f' % environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'zero')))
            yield ' '
            l_1_loop = missing
            for l_1_day, l_1_loop in LoopContext(environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'rows'), undefined):
                _loop_vars = {}
                pass
                yield str((environment.getattr(l_1_loop, 'index0') + 0.5))
                yield ','
                yield str(('%.2f' % environment.getattr(l_1_day, 'high')))
                yield ' '
            l_1_loop = l_1_day = missing
            yield str((environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'count') - 0.5))
            yield ','
            yield str(('%.2f' % environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'zero')))
            yield '"/>\n<polyline class="curve" vector-effect="non-scaling-stroke" points="'
            l_1_loop = missing
            for l_1_day, l_1_loop in LoopContext(environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'rows'), undefined):
                _loop_vars = {}
                pass
                yield str((environment.getattr(l_1_loop, 'index0') + 0.5))
                yield ','
                yield str(('%.2f' % environment.getattr(l_1_day, 'high')))
                yield ' '
            l_1_loop = l_1_day = missing
            yield '"/>\n</svg>\n<text y="12" class="d">net so far</text><text x="100%" y="12" class="e">'
            yield str(t_1(environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'net')))
            yield '</text>\n'
            for l_1_day in environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'rows'):
                _loop_vars = {}
                pass
                yield '<g><title>'
                yield str(environment.getattr(l_1_day, 'day'))
                yield ': '
                yield str(t_1(environment.getattr(l_1_day, 'stored')))
                yield ' written, '
                yield str(t_1(environment.getattr(l_1_day, 'receipts')))
                yield ' receipts, '
                yield str(t_1(environment.getattr(l_1_day, 'asked')))
                yield ' second turns, '
                yield str(t_1(environment.getattr(l_1_day, 'shown')))
                yield ' opened again; net so far '
                yield str(t_1(environment.getattr(l_1_day, 'net')))
                yield '</title>\n<rect class="kept" x="'
                yield str(('%.2f' % environment.getattr(l_1_day, 'left')))
                yield '%" width="'
                yield str(('%.2f' % environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'wide')))
                yield '%" y="'
                yield str(('%.2f' % (environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'base') - (environment.getattr(l_1_day, 'stored') * environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'scale')))))
                yield '" height="'
                yield str(('%.2f' % (environment.getattr(l_1_day, 'stored') * environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'scale'))))
                yield '"/>\n<rect class="receipts" x="'
                yield str(('%.2f' % environment.getattr(l_1_day, 'left')))
                yield '%" width="'
                yield str(('%.2f' % environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'wide')))
                yield '%" y="'
                yield str(('%.2f' % (environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'base') + 1)))
                yield '" height="'
                yield str(('%.2f' % (environment.getattr(l_1_day, 'receipts') * environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'scale'))))
                yield '"/>\n<rect class="asked" x="'
                yield str(('%.2f' % environment.getattr(l_1_day, 'left')))
                yield '%" width="'
                yield str(('%.2f' % environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'wide')))
                yield '%" y="'
                yield str(('%.2f' % ((environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'base') + 1) + (environment.getattr(l_1_day, 'receipts') * environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'scale')))))
                yield '" height="'
                yield str(('%.2f' % (environment.getattr(l_1_day, 'asked') * environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'scale'))))
                yield '"/>\n<rect class="shown" x="'
                yield str(('%.2f' % environment.getattr(l_1_day, 'left')))
                yield '%" width="'
                yield str(('%.2f' % environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'wide')))
                yield '%" y="'
                yield str(('%.2f' % ((environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'base') + 1) + ((environment.getattr(l_1_day, 'receipts') + environment.getattr(l_1_day, 'asked')) * environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'scale')))))
                yield '" height="'
                yield str(('%.2f' % (environment.getattr(l_1_day, 'shown') * environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'scale'))))
                yield '"/></g>\n'
                if environment.getattr(l_1_day, 'label'):
                    pass
                    yield '<text class="d m" x="'
                    yield str(('%.2f' % (environment.getattr(l_1_day, 'left') + (environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'wide') / 2))))
                    yield '%" y="247">'
                    yield str(environment.getattr(l_1_day, 'label'))
                    yield '</text>'
                yield '\n'
            l_1_day = missing
            yield '<line class="axis" x1="0" x2="100%" y1="'
            yield str(environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'base'))
            yield '" y2="'
            yield str(environment.getattr((undefined(name='days') if l_0_days is missing else l_0_days), 'base'))
            yield '"/>\n</svg>\n<details><summary>The numbers, by day</summary>'
            yield str(environment.getattr((undefined(name='tables') if l_0_tables is missing else l_0_tables), 'days'))
            yield '</details>\n</figure>\n'
    else:
        pass
        yield '<p>No agent has stored a report, a finding or a review yet.</p>\n'
    yield '\n<h3>What a reader can still answer</h3>\n'
    if (undefined(name='evaluation') if l_0_evaluation is missing else l_0_evaluation):
        pass
        yield '<figure>\n<figcaption>Questions about stored texts that your own model answered from each kind of material; the line is the 95&nbsp;% interval</figcaption>\n<svg height="'
        yield str((environment.getattr((undefined(name='counts') if l_0_counts is missing else l_0_counts), 'evaluation') * 34))
        yield '" role="img" aria-label="Share of questions answered from each kind of material; the numbers are in the table below">\n'
        l_1_loop = missing
        for l_1_arm, l_1_loop in LoopContext((undefined(name='evaluation') if l_0_evaluation is missing else l_0_evaluation), undefined):
            _loop_vars = {}
            pass
            yield '<g><text y="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 12))
            yield '">'
            yield str(environment.getattr(l_1_arm, 'said'))
            yield '</text><text class="e" x="100%" y="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 12))
            yield '">'
            yield str(environment.getattr(l_1_arm, 'right'))
            yield ' % · '
            yield str(environment.getattr(l_1_arm, 'wrong'))
            yield ' wrong</text>\n<rect class="track" y="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 17))
            yield '" height="10" rx="3" width="100%"/>\n<rect class="'
            if environment.getattr(l_1_loop, 'first'):
                pass
                yield 'kept'
            else:
                pass
                yield 'rest'
            yield '" y="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 17))
            yield '" height="10" rx="3" width="'
            yield str(environment.getattr(l_1_arm, 'right'))
            yield '%"/>\n<line class="whisker" x1="'
            yield str(environment.getattr(l_1_arm, 'low'))
            yield '%" x2="'
            yield str(environment.getattr(l_1_arm, 'high'))
            yield '%" y1="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 22))
            yield '" y2="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 22))
            yield '"/></g>\n'
        l_1_loop = l_1_arm = missing
        yield '</svg>\n<details><summary>The numbers, by material</summary>'
        yield str(environment.getattr((undefined(name='tables') if l_0_tables is missing else l_0_tables), 'evaluation'))
        yield '</details>\n</figure>\n'
    else:
        pass
        yield '<p>Not measured here. <code>make context_eval cmd="claude -p"</code> asks your own model.</p>\n'
    yield '\n'
    if (undefined(name='kinds') if l_0_kinds is missing else l_0_kinds):
        pass
        yield '<h3>Where receipts fall short</h3>\n<figure>\n<figcaption>How many texts of each kind were opened again after their receipt had been read</figcaption>\n<svg height="'
        yield str((environment.getattr((undefined(name='counts') if l_0_counts is missing else l_0_counts), 'kinds') * 34))
        yield '" role="img" aria-label="Texts opened again, by kind; the numbers are in the table below">\n'
        l_1_loop = missing
        for l_1_kind, l_1_loop in LoopContext((undefined(name='kinds') if l_0_kinds is missing else l_0_kinds), undefined):
            _loop_vars = {}
            pass
            yield '<g><text y="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 12))
            yield '">'
            yield str(environment.getattr(l_1_kind, 'kind'))
            yield '</text><text class="e" x="100%" y="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 12))
            yield '">'
            yield str(t_1(environment.getattr(l_1_kind, 'opened')))
            yield ' of '
            yield str(t_1(environment.getattr(l_1_kind, 'documents')))
            yield ' opened</text>\n<rect class="track" y="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 17))
            yield '" height="10" rx="3" width="100%"/>\n<rect class="shown" y="'
            yield str(((environment.getattr(l_1_loop, 'index0') * 34) + 17))
            yield '" height="10" rx="3" width="'
            yield str(('%.2f' % ((environment.getattr(l_1_kind, 'opened') * 100) / environment.getattr(l_1_kind, 'documents'))))
            yield '%"/></g>\n'
        l_1_loop = l_1_kind = missing
        yield '</svg>\n<details><summary>The numbers, by kind</summary>'
        yield str(environment.getattr((undefined(name='tables') if l_0_tables is missing else l_0_tables), 'kinds'))
        yield '</details>\n</figure>\n'
    yield '</section>\n\n<section aria-labelledby="flow"><h2 id="flow">Where did it go</h2>\n'
    if environment.getattr((undefined(name='flow') if l_0_flow is missing else l_0_flow), 'bands'):
        pass
        yield '<figure>\n<figcaption>From who wrote to who got it, in tokens; what is gray entered no context</figcaption>\n<svg height="'
        yield str(environment.getattr((undefined(name='flow') if l_0_flow is missing else l_0_flow), 'tall'))
        yield '" role="img" aria-label="Tokens from who wrote to who got them; the numbers are in the table below">\n<svg x="32%" width="36%" viewBox="0 0 100 '
        yield str(environment.getattr((undefined(name='flow') if l_0_flow is missing else l_0_flow), 'tall'))
        yield '" height="'
        yield str(environment.getattr((undefined(name='flow') if l_0_flow is missing else l_0_flow), 'tall'))
        yield '" preserveAspectRatio="none">\n'
        for l_1_band in environment.getattr((undefined(name='flow') if l_0_flow is missing else l_0_flow), 'bands'):
            _loop_vars = {}
            pass
            yield '<path class="band '
            yield str(environment.getattr(l_1_band, 'color'))
            yield '" d="M0 '
            yield str(('%.1f' % environment.getattr(l_1_band, 'left')))
            yield 'C50 '
            yield str(('%.1f' % environment.getattr(l_1_band, 'left')))
            yield ' 50 '
            yield str(('%.1f' % environment.getattr(l_1_band, 'right')))
            yield ' 100 '
            yield str(('%.1f' % environment.getattr(l_1_band, 'right')))
            yield 'v'
            yield str(('%.1f' % environment.getattr(l_1_band, 'thick')))
            yield 'C50 '
            yield str(('%.1f' % (environment.getattr(l_1_band, 'right') + environment.getattr(l_1_band, 'thick'))))
            yield ' 50 '
            yield str(('%.1f' % (environment.getattr(l_1_band, 'left') + environment.getattr(l_1_band, 'thick'))))
            yield ' 0 '
            yield str(('%.1f' % (environment.getattr(l_1_band, 'left') + environment.getattr(l_1_band, 'thick'))))
            yield 'z"><title>'
            yield str(environment.getattr(l_1_band, 'writer'))
            yield ' → '
            yield str(environment.getattr(l_1_band, 'reader'))
            yield ': '
            yield str(t_1(environment.getattr(l_1_band, 'tokens')))
            yield ' tokens</title></path>\n'
        l_1_band = missing
        yield '</svg>\n'
        for l_1_writer in environment.getattr((undefined(name='flow') if l_0_flow is missing else l_0_flow), 'writers'):
            _loop_vars = {}
            pass
            yield '<rect class="kept" x="31%" width="1%" y="'
            yield str(('%.1f' % environment.getattr(l_1_writer, 'top')))
            yield '" height="'
            yield str(('%.1f' % environment.getattr(l_1_writer, 'height')))
            yield '"/><text class="e" x="30%" y="'
            yield str(('%.1f' % (environment.getattr(l_1_writer, 'top') + 10)))
            yield '">'
            yield str(environment.getattr(l_1_writer, 'name'))
            yield '</text><text class="e d" x="30%" y="'
            yield str(('%.1f' % (environment.getattr(l_1_writer, 'top') + 24)))
            yield '">'
            yield str(t_1(environment.getattr(l_1_writer, 'tokens')))
            yield '</text>\n'
        l_1_writer = missing
        for l_1_reader in environment.getattr((undefined(name='flow') if l_0_flow is missing else l_0_flow), 'readers'):
            _loop_vars = {}
            pass
            yield '<rect class="'
            yield str(environment.getattr(l_1_reader, 'color'))
            yield '" x="68%" width="1%" y="'
            yield str(('%.1f' % environment.getattr(l_1_reader, 'top')))
            yield '" height="'
            yield str(('%.1f' % environment.getattr(l_1_reader, 'height')))
            yield '"/><text x="70%" y="'
            yield str(('%.1f' % (environment.getattr(l_1_reader, 'top') + 10)))
            yield '">'
            yield str(environment.getattr(l_1_reader, 'name'))
            yield '</text><text class="d" x="70%" y="'
            yield str(('%.1f' % (environment.getattr(l_1_reader, 'top') + 24)))
            yield '">'
            yield str(t_1(environment.getattr(l_1_reader, 'tokens')))
            yield '</text>\n'
        l_1_reader = missing
        yield '</svg>\n<details><summary>The numbers, by writer</summary>'
        yield str(environment.getattr((undefined(name='tables') if l_0_tables is missing else l_0_tables), 'bands'))
        yield '</details>\n</figure>\n'
    else:
        pass
        yield '<p>Nothing has been stored yet.</p>\n'
    yield '\n'
    if environment.getattr((undefined(name='timeline') if l_0_timeline is missing else l_0_timeline), 'rows'):
        pass
        yield '<h3>Sessions</h3>\n<figure>\n<figcaption>When each session and its subagents were at work'
        if environment.getattr((undefined(name='timeline') if l_0_timeline is missing else l_0_timeline), 'left_out'):
            pass
            yield '; '
            yield str(t_1(environment.getattr((undefined(name='timeline') if l_0_timeline is missing else l_0_timeline), 'left_out')))
            yield ' earlier ones are in the table'
        yield '. Idle hours are left out.</figcaption>\n<ul class="key"><li><i class="receipts"></i>session</li><li><i class="rest"></i>subagent</li>\n<li><svg viewBox="-7 -7 14 14" aria-hidden="true"><path class="kept" d="M0 -6L6 0L0 6L-6 0z"/></svg>handoff</li><li><svg viewBox="-7 -7 14 14" aria-hidden="true"><path class="asked" d="M-6 -5H6L0 6z"/></svg>saved: context full or compacted</li><li><svg viewBox="-7 -7 14 14" aria-hidden="true"><path class="bad" d="M-6 -4L-4 -6L0 -2L4 -6L6 -4L2 0L6 4L4 6L0 2L-4 6L-6 4L-2 0z"/></svg>died</li></ul>\n<svg height="'
        yield str(environment.getattr((undefined(name='timeline') if l_0_timeline is missing else l_0_timeline), 'tall'))
        yield '" role="img" aria-label="When sessions and subagents were at work, with handoffs, saved contexts and crashes; the times are in the tables below">\n'
        for l_1_time in environment.getattr((undefined(name='timeline') if l_0_timeline is missing else l_0_timeline), 'times'):
            _loop_vars = {}
            pass
            yield '<line class="axis" x1="'
            yield str(('%.2f' % environment.getattr(l_1_time, 'at')))
            yield '%" x2="'
            yield str(('%.2f' % environment.getattr(l_1_time, 'at')))
            yield '%" y1="16" y2="100%"/>'
            if environment.getattr(l_1_time, 'label'):
                pass
                yield '<text class="d" x="'
                yield str(('%.2f' % environment.getattr(l_1_time, 'at')))
                yield '%" y="10">'
                yield str(environment.getattr(l_1_time, 'label'))
                yield '</text>'
            yield '\n'
        l_1_time = missing
        for l_1_session in environment.getattr((undefined(name='timeline') if l_0_timeline is missing else l_0_timeline), 'rows'):
            _loop_vars = {}
            pass
            yield '<g><title>'
            yield str(environment.getattr(l_1_session, 'name'))
            yield ': '
            yield str(environment.getattr(l_1_session, 'began'))
            yield ' to '
            yield str(environment.getattr(l_1_session, 'ended'))
            yield '</title>\n<text '
            if (environment.getattr(l_1_session, 'begin') > 60):
                pass
                yield 'class="e" x="'
                yield str(('%.2f' % environment.getattr(l_1_session, 'end')))
                yield '%"'
            else:
                pass
                yield 'x="'
                yield str(('%.2f' % environment.getattr(l_1_session, 'begin')))
                yield '%" dx="4"'
            yield ' y="'
            yield str((environment.getattr(l_1_session, 'top') + 12))
            yield '">'
            yield str(environment.getattr(l_1_session, 'name'))
            yield '</text>\n<rect class="receipts" x="'
            yield str(('%.2f' % environment.getattr(l_1_session, 'begin')))
            yield '%" width="'
            yield str(('%.2f' % ((environment.getattr(l_1_session, 'end') - environment.getattr(l_1_session, 'begin')) if (environment.getattr(l_1_session, 'end') > (environment.getattr(l_1_session, 'begin') + 0.6)) else 0.6)))
            yield '%" y="'
            yield str((environment.getattr(l_1_session, 'top') + 18))
            yield '" height="10" rx="3"/></g>\n'
            for l_2_below in environment.getattr(l_1_session, 'inside'):
                _loop_vars = {}
                pass
                yield '<rect class="rest" x="'
                yield str(('%.2f' % environment.getattr(l_2_below, 'begin')))
                yield '%" width="'
                yield str(('%.2f' % ((environment.getattr(l_2_below, 'end') - environment.getattr(l_2_below, 'begin')) if (environment.getattr(l_2_below, 'end') > (environment.getattr(l_2_below, 'begin') + 0.6)) else 0.6)))
                yield '%" y="'
                yield str((environment.getattr(l_1_session, 'top') + 30))
                yield '" height="5" rx="2"><title>'
                yield str(environment.getattr(l_2_below, 'name'))
                yield ': '
                yield str(environment.getattr(l_2_below, 'began'))
                yield ' to '
                yield str(environment.getattr(l_2_below, 'ended'))
                yield '</title></rect>\n'
            l_2_below = missing
            for l_2_mark in environment.getattr(l_1_session, 'marks'):
                _loop_vars = {}
                pass
                yield '<svg x="'
                yield str(('%.2f' % environment.getattr(l_2_mark, 'at')))
                yield '%" y="'
                yield str((environment.getattr(l_1_session, 'top') + 23))
                yield '"><title>'
                yield str(environment.getattr(l_2_mark, 'mark'))
                yield ' '
                yield str(environment.getattr(l_2_mark, 'time'))
                yield ' '
                yield str(environment.getattr(l_2_mark, 'ref'))
                yield '</title><path class="mark '
                if (environment.getattr(l_2_mark, 'mark') == 'handoff'):
                    pass
                    yield 'kept" d="M0 -7L7 0L0 7L-7 0z'
                elif (environment.getattr(l_2_mark, 'mark') == 'saved'):
                    pass
                    yield 'asked" d="M-7 -6H7L0 7z'
                else:
                    pass
                    yield 'bad" d="M-7 -5L-5 -7L0 -2L5 -7L7 -5L2 0L7 5L5 7L0 2L-5 7L-7 5L-2 0z'
                yield '"/></svg>\n'
            l_2_mark = missing
        l_1_session = missing
        yield '</svg>\n<details><summary>The sessions, and what happened in them</summary>'
        yield str(environment.getattr((undefined(name='tables') if l_0_tables is missing else l_0_tables), 'sessions'))
        yield str(environment.getattr((undefined(name='tables') if l_0_tables is missing else l_0_tables), 'inside'))
        yield str(environment.getattr((undefined(name='tables') if l_0_tables is missing else l_0_tables), 'marks'))
        yield '</details>\n</figure>\n'
    if (undefined(name='machines') if l_0_machines is missing else l_0_machines):
        pass
        yield str(environment.getattr((undefined(name='tables') if l_0_tables is missing else l_0_tables), 'machines'))
        yield '\n'
    yield '</section>\n<section aria-labelledby="documents"><h2 id="documents">All documents</h2><div id="list"><noscript>The list needs this page\'s script; <code>make context_search q=…</code> finds documents too.</noscript></div></section>\n</main>\n<script type="application/json" id="data">'
    yield str((undefined(name='data') if l_0_data is missing else l_0_data))
    yield '</script>\n<script>\n"use strict";\nconst data = JSON.parse(document.getElementById("data").textContent);\nconst LONGEST = 200, number = new Intl.NumberFormat("en");\n\n// Everything of the data becomes text: no HTML is ever made of it.\nfunction make(tag, values, ...inside) {\n  const element = Object.assign(document.createElement(tag), values);\n  element.append(...inside);\n  return element;\n}\n// A command with a name in it that somebody may paste into a shell.\nfunction call(ref) {\n  const plain = /^[\\w@%+=:,.\\/-]+$/.test(ref);\n  return make("code", {}, `make context_show ref=${plain ? ref : `\'${ref.replaceAll("\'", "\'\\\\\'\'")}\'`}`);\n}\nfunction table(items) {\n  const heads = ["document", "state", "tokens", "written", "what it is", "open it"];\n  if (data.machines.length) heads.splice(5, 0, "stored on");\n  const body = make("tbody", {}, ...items.slice(0, LONGEST).map(([ref, , at, tokens, state, what, machine]) => {\n    const cells = [make("code", {}, ref), state, number.format(tokens), at, what, call(ref)];\n    if (data.machines.length) cells.splice(5, 0, machine || "here");\n    return make("tr", {}, ...cells.map((cell) => make("td", {}, cell)));\n  }));\n  const head = make("thead", {}, make("tr", {}, ...heads.map((name) => make("th", { scope: "col" }, name))));\n  const box = make("div", { className: "wide", tabIndex: 0 }, make("table", {}, make("caption", {}, "Documents"), head, body));\n  box.setAttribute("role", "region");\n  box.setAttribute("aria-label", "Documents");\n  if (items.length > LONGEST) box.append(make("p", { className: "dim" }, `${number.format(items.length - LONGEST)} more are not shown`));\n  return box;\n}\nconst field = make("input", { type: "search", id: "find" }), kind = make("select", { id: "kind" }, new Option("all", ""));\nconst box = make("div", {}), said = make("p", { className: "dim" });\nsaid.setAttribute("role", "status");\nfor (const name of new Set(data.items.map((item) => item[1]))) kind.append(new Option(name, name));\nconst texts = data.items.map((item) => item.join(" ").toLowerCase());\nfunction draw() {\n  const wanted = field.value.toLowerCase().split(/\\s+/).filter(Boolean);\n  const found = data.items.filter((item, index) => (!kind.value || item[1] === kind.value) && wanted.every((word) => texts[index].includes(word)));\n  said.textContent = `${number.format(found.length)} of ${number.format(data.items.length)} documents` +\n    (data.left_out ? `; ${number.format(data.left_out)} older ones are not in this page` : "");\n  box.replaceChildren(table(found));\n}\nfield.addEventListener("input", draw);\nkind.addEventListener("change", draw);\ndocument.getElementById("list").replaceChildren(make("div", { className: "filters" },\n  make("p", {}, make("label", { htmlFor: "find" }, "Search "), field), make("p", {}, make("label", { htmlFor: "kind" }, "Kind "), kind)), said, box);\ndraw();\n</script>\n</body>\n</html>\n'

blocks = {}
debug_info = '52=33&56=39&58=42&59=46&60=52&61=55&72=72&73=74&74=77&76=86&80=95&81=99&82=109&83=111&84=113&86=115&87=117&88=121&89=125&91=129&94=137&99=140&100=142&101=158&103=167&104=169&105=173&106=185&107=193&108=201&109=209&110=217&113=227&115=231&123=237&126=240&127=243&128=247&129=257&130=259&131=270&134=280&140=286&144=289&145=292&146=296&147=306&148=308&151=314&157=317&160=320&161=322&162=326&163=330&166=356&167=360&169=373&170=377&173=393&179=399&182=402&185=408&186=410&187=414&190=427&191=431&192=437&193=452&194=458&195=462&197=475&198=479&202=502&205=506&206=508&211=511'
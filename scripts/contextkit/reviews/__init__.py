"""Reviews and verdicts: what many agents found, from the start of a run to its gate.

How an agent's file becomes a verdict, from the outside in:

flows/agent_files         `read` the file of each agent; `ingest` stores a verdict for each
documents/agent_review    `parse` a file into one Review; `effective_status` follows from it
documents/index           its lines, the rows of its Findings Index, and the verdict it states
documents/vocabulary      severities, ids and verdicts, by the words in templates/words/reviews.txt
documents/headers         what an agent says about itself in a few lines around its review
documents/reader          the findings outside an index, by any tool or person
documents/normal, sight   its lines in one form, and its parts, which know what stands around them
documents/heads, places   how a line begins, and the places in code that it names
documents/shapes          what a heading, a label or a line says of severity;
documents/tables          what cells and objects do, documents/phrases sentences
documents/denials         grave words, and whether their own line takes them back
documents/proof           the last check before CLEAN: nothing in the file contradicts it
documents/verdicts        what is stored

Around it:

documents/runs            a run, from its start to its gate: who was asked, about what
documents/processes       the kinds of review, as data
documents/contracts       what an agent is told; documents/complaints where its file breaks it
flows/start               a new run: its folder, its prompts, and what it is about (the diff)
flows/workers             the agents at work: their subagents, waiting for their files, their end
flows/drill_down          the part of a file worth reading; documents/sections finds it
flows/synthesis, reports  when two findings are one; what all say together, and its forms
flows/history             findings across runs: new, still there, fixed, dismissed
documents/dismissals      the findings that somebody dismissed, and why
flows/gate                PASS or FAIL
flows/blockers            what is still open, of the current verdicts and of earlier runs
"""

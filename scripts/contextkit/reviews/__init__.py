"""Reviews and verdicts: what many agents found, from the start of a run to its gate.

From an agent's file to its verdict, in reading order:

documents/vocabulary, lines          the words of reviews, and lines without their markup
documents/index, outline             the rows of an index; sections that look like findings
documents/agent_review               a file as one Review, and the status that follows from it;
                                     headers (of other tools), wide_reading (doubts) add to it
flows/agent_files                    the files of a run or folder, and the verdicts they get
documents/verdicts                   what is stored

Around it:

documents/processes, runs, contracts   what is asked of whom; flows/start, comparisons (the diff),
                                       workers (subagents, waiting for files, the end), gate
documents/sections                     the part of a file about one finding; flows/drill_down
flows/synthesis, reports               what all agents say together
flows/identity, history                a finding across agents and runs; documents/dismissals
"""

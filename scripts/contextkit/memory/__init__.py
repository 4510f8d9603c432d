"""External memory: plans, findings, checkpoints, snapshots, and how a task recovers from them.

documents/plans, findings, merged, checkpoints, snapshots
                          a document each: its format, and how it is saved and loaded
documents/store           what they share: folders, names, times, phases, the current task
documents/reports         an agent's report, in whatever form, as the fields of a finding
documents/context_window  how full the context is, and whether a snapshot is due
documents/conversations   a host's transcript as a list of events

flows/saving              what agents say becomes documents; automatic snapshots
flows/agents              who was sent off, who is back, and what is saved then
flows/transcripts         what a session did after its last save
flows/recovery            what is left of a task on disk
flows/recovery_report     the same within a token budget; digest shortens the findings
flows/upkeep              list, merge, archive, clean and check

commands/writing          what saves a document, or puts documents away
commands/reading          the rest: it need not load `saving`
"""

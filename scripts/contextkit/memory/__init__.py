"""External memory: plans, findings, checkpoints, snapshots, and how a task recovers from them.

documents/plans, findings, merged, checkpoints, snapshots
                          a document each: its format, and how it is saved and loaded
documents/store           what they share: folders, names, times, phases, the current task
documents/reports         an agent's report, in whatever form, as a finding; findings in few words
documents/context_window  how full the context is, and whether a snapshot is due

flows/saving              what agents say becomes documents; automatic snapshots
flows/agents              who was sent off, who is back, and what is saved then
flows/transcripts         what a session did after its last save
flows/recovery            what is left of a task on disk
flows/recovery_report     the same within a token budget
flows/upkeep              list, merge, archive, clean and check
"""

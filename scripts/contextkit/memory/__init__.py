"""External memory: plans, findings, checkpoints, snapshots, and how a task recovers from them."""

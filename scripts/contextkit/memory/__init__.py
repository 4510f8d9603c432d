"""External memory: plans, findings, checkpoints, snapshots, and recovery from them."""

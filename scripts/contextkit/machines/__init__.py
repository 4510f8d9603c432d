"""Machines: sharing one context between a laptop, a sandbox, CI and a team.

documents/manifests      what travels: documents, the manifests that name them, heads, clocks
documents/knowledge      what this machine is, and what it knows of documents and remotes
flows/remotes            which remote is meant, its engine (engines/), who pushes there
flows/push, pull         send what is new here; offer what is new there to the stores here
flows/transfers          what a push or pull is asked to move, and its report
flows/inventory          which documents are here, and which changed
flows/shares             which files travel, where they go, how two versions merge
flows/background         a push or pull that a hook starts
"""

"""Machines: sharing one context between a laptop, a sandbox, CI and a team.

documents/manifests      what travels: documents, the manifests that name them, heads, clocks
documents/knowledge      what this machine is, and what it knows of documents and remotes
flows/remotes            which remote is meant, who pushes and signs there; its engine
flows/engines            a folder, an object store, a git remote; encrypted or not
flows/push, pull         send what is new here; offer what is new there to the stores here
flows/shares             which documents travel and are meant, how two versions merge; reports
"""

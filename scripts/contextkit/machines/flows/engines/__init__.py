"""Where manifests and objects are kept: a git remote, a folder, an object store, encrypted or not.

Each is a `remotes.Engine`, and has a module of its own.
"""

"""Where manifests and objects are kept: a git remote, a folder, an object store."""

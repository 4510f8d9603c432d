#!/bin/sh
# Put one commit of contextkit into the user's data folder, once for all projects:
#     install.sh FROM COMMIT VERSION [ORIGIN]        FROM: a git URL or a checkout
# Prints the folder. git proves that the content has that hash before anything of it runs; the folder
# gets its name last, so that a crash leaves none.
set -eu
from=$1 commit=$2 version=$3 origin=${4-$1}
case "$commit$version" in *[!0-9A-Za-z.+-]*|-*) echo "contextkit: not a commit and a version: $commit $version" >&2; exit 1;; esac
[ -n "$from" ] || { echo "contextkit: no origin was recorded here: run make adopt again, from a checkout" >&2; exit 1; }
case "$from" in -*|*::*) echo "contextkit: not a place to fetch from: $from" >&2; exit 1;; esac
short=$(printf %.12s "$commit")
data=${XDG_DATA_HOME:-$HOME/.local/share}/contextkit
for place in "$data/$version" "$data/$version-$short"; do
  if [ -e "$place/pinned-$commit" ]; then echo "$place"; exit 0; fi
done
[ -e "$data/$version" ] || place=$data/$version
mkdir -p "$data"
draft=$(mktemp -d "$data/.draft-XXXXXX")
trap 'rm -rf "$draft"' EXIT
trap 'exit 1' HUP INT TERM
export GIT_TERMINAL_PROMPT=0 GIT_ALLOW_PROTOCOL=https:http:ssh:git:file
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_OBJECT_DIRECTORY
git init -q --bare "$draft/git"
fetch() { git -C "$draft/git" fetch -q --no-tags "$@"; }
fetch --depth=1 -- "$from" "$commit" 2>"$draft/said" ||
  fetch -- "$from" '+refs/heads/*:refs/heads/*' '+refs/tags/*:refs/tags/*' 2>"$draft/said" || {
    tail -n 1 "$draft/said" >&2
    echo "contextkit: $from could not be fetched: run make adopt again, from a checkout whose \`origin\` can be reached from here, or with copy=1" >&2
    exit 1; }
git -C "$draft/git" cat-file -e "$commit^{commit}" 2>/dev/null || {
  echo "contextkit: $from has no commit $commit: has it been pushed?" >&2; exit 1; }
mkdir "$draft/files"
git -C "$draft/git" archive "$commit" . ':(exclude)tests' | tar -x -f - -C "$draft/files"
printf '%s\n' "$origin" > "$draft/files/pinned-$commit"
python3 -c 'import os, sys; os.rename(*sys.argv[1:])' "$draft/files" "$place" 2>/dev/null ||
  [ -e "$place/pinned-$commit" ] || { echo "contextkit: $place: could not be written" >&2; exit 1; }
echo "$place"

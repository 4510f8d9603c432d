#!/usr/bin/env bash
# Verdict files for shell scripts: source this in place of the old lib-verdict.sh.
#
#   . tools/contextkit/scripts/lib-verdict.sh
#   verdict_write fd-safety verdict CLEAN haiku "nothing found"
#   verdict_parse_all
#
# The functions, arguments and outputs of the old library, on top of verdict.py; what differs on
# purpose is in manuals/lib-verdict.md. At most one process per call, and none where there is no
# store. It changes no option of the shell that sources it, and never ends it.
#
# It finds verdict.py beside itself (links are followed), or in the copy of contextkit in a folder
# above it. Where it finds none, or the shell does not tell where this file is, it says so, returns 1,
# and every report of it shows an ERROR: no caller takes a broken library for a clean review.

# Print the folder that holds verdict.py, for the copy of this file at $1.
_verdict_find() {
  _verdict_at=$1
  while [ -L "$_verdict_at" ]; do
    _verdict_to=$(readlink "$_verdict_at") || break
    case $_verdict_to in
      /*) _verdict_at=$_verdict_to ;;
      *) _verdict_at=${_verdict_at%/*}/$_verdict_to ;;
    esac
  done
  _verdict_at=$(CDPATH='' cd -P -- "${_verdict_at%/*}" 2>/dev/null && pwd) || return 1
  if [ -f "$_verdict_at/verdict.py" ]; then
    printf '%s\n' "$_verdict_at"
    return 0
  fi
  while [ -n "$_verdict_at" ]; do
    for _verdict_to in "$_verdict_at/tools/contextkit" "$_verdict_at/contextkit"; do
      if [ -f "$_verdict_to/scripts/verdict.py" ]; then
        printf '%s\n' "$_verdict_to/scripts"
        return 0
      fi
    done
    _verdict_at=${_verdict_at%/*}
  done
  return 1
}

if [ -z "${_VERDICT_HOME:-}" ]; then
  _VERDICT_WRONG=""
  if [ -n "${BASH_VERSION:-}" ]; then
    eval '_VERDICT_HOME=${BASH_SOURCE[0]}'
  elif [ -n "${ZSH_VERSION:-}" ]; then
    _VERDICT_HOME=$0
  else
    _VERDICT_WRONG="needs bash or zsh (or _VERDICT_HOME set to the folder of verdict.py)"
  fi
  if [ -z "$_VERDICT_WRONG" ]; then
    case $_VERDICT_HOME in
      */*) ;;
      *) _VERDICT_HOME=./$_VERDICT_HOME ;;
    esac
    if ! _VERDICT_HOME=$(_verdict_find "$_VERDICT_HOME"); then
      _VERDICT_WRONG="there is no verdict.py beside it or in a contextkit above it: link it instead of copying it"
    fi
  fi
  if [ -n "$_VERDICT_WRONG" ]; then
    _VERDICT_HOME=""
    echo "lib-verdict.sh: $_VERDICT_WRONG" >&2
  fi
fi

# The folder of the verdicts, as in the old library; set it anew to use another one.
VERDICT_DIR=${CLAVAIN_VERDICT_DIR:-.clavain/verdicts}
_VERDICT_DIR_AT_FIRST=$VERDICT_DIR
# Where the old library reads its session id, for callers in which nothing else names one.
_VERDICT_SESSION_FILE=${_VERDICT_SESSION_FILE:-/tmp/interstat-session-id}

# Run verdict.py, in a subshell so that what is set for it stays there.
_verdict() (
  if [ -z "$_VERDICT_HOME" ]; then
    echo "lib-verdict.sh: ${_VERDICT_WRONG:-verdict.py was not found}" >&2
    return 1
  fi
  if [ "$VERDICT_DIR" != "$_VERDICT_DIR_AT_FIRST" ]; then
    case $VERDICT_DIR in
      /*) CLAVAIN_VERDICT_DIR=$VERDICT_DIR ;;
      *) CLAVAIN_VERDICT_DIR=$PWD/$VERDICT_DIR ;;
    esac
    export CLAVAIN_VERDICT_DIR
  fi
  if [ -z "${SESSION_ID:-}${CLAUDE_CODE_SESSION_ID:-}${CLAUDE_SESSION_ID:-}" ] &&
    [ -r "$_VERDICT_SESSION_FILE" ]; then
    IFS= read -r CLAUDE_SESSION_ID < "$_VERDICT_SESSION_FILE" || :
    export CLAUDE_SESSION_ID
  fi
  if [ -x "$_VERDICT_HOME/../.venv/bin/python" ]; then
    exec "$_VERDICT_HOME/../.venv/bin/python" "$_VERDICT_HOME/verdict.py" "$@"
  fi
  exec python3 "$_VERDICT_HOME/verdict.py" "$@"
)

# Whether there may be anything to report: false only where a default store cannot exist.
_verdict_store() {
  [ "$VERDICT_DIR" = "$_VERDICT_DIR_AT_FIRST" ] || return 0
  [ -n "${CLAVAIN_VERDICT_DIR:-}" ] || [ -n "${CONTEXT_ROOT:-}" ] && return 0
  _verdict_at=$PWD
  while :; do
    [ -e "$_verdict_at/.clavain/verdicts" ] || [ -e "$_verdict_at/contextkit.yaml" ] && return 0
    [ -e "$_verdict_at/.git" ] || [ "$_verdict_at" = / ] || [ -z "$_verdict_at" ] && return 1
    _verdict_at=${_verdict_at%/*}
  done
}

# A report: what $1 stands for where there is no store, $2 for a library that does not work, and
# otherwise what verdict.py says to the rest.
_verdict_report() {
  if [ -z "$_VERDICT_HOME" ]; then
    printf '%b' "$2"
    _verdict
    return 1
  fi
  if ! _verdict_store; then
    printf '%s' "$1"
    return 0
  fi
  shift 2
  _verdict "$@"
}

# verdict_init: make the store.
verdict_init() {
  _verdict init >/dev/null
}

# verdict_write AGENT TYPE STATUS MODEL SUMMARY [DETAIL] [FILES_JSON] [COUNT] [TOKENS] [PHASE]
# A status that is not known is stored as NEEDS_ATTENTION, with what was said.
verdict_write() {
  if [ $# -lt 5 ] || [ -z "$1" ] || [ -z "$2" ] || [ -z "$3" ] || [ -z "$4" ] || [ -z "$5" ]; then
    echo "verdict_write: needs AGENT TYPE STATUS MODEL SUMMARY" >&2
    return 2
  fi
  _verdict write --lenient --agent="$1" --type="$2" --status="$3" --model="$4" --summary="$5" \
    --detail="${6:-}" --files-changed="${7:-}" --findings="${8:-}" --tokens="${9:-}" \
    --phase="${10:-}" >/dev/null
}

# verdict_read AGENT: STATUS, MODEL and SUMMARY, separated by tabs; 1 if there is none.
verdict_read() {
  _verdict read --agent="${1:-}"
}

# verdict_parse_all: STATUS, AGENT and SUMMARY, one line per agent.
verdict_parse_all() {
  _verdict_report "" 'ERROR\tlib-verdict.sh\tno verdict can be read: see stderr\n' table
}

# verdict_count_by_status: "3 CLEAN, 1 NEEDS_ATTENTION"
verdict_count_by_status() {
  _verdict_report "0 verdicts
" '1 ERROR\n' table --view=count
}

# verdict_get_attention: AGENT, FINDINGS and DETAIL of those to look at.
verdict_get_attention() {
  _verdict_report "" 'lib-verdict.sh\t0\tlib-verdict.sh\n' table --view=attention --plain
}

# verdict_clean: remove all verdicts; what agents wrote stays.
verdict_clean() {
  _verdict_report "" "" clean --all >/dev/null
}

# verdict_total_tokens: the tokens that all agents spent.
verdict_total_tokens() {
  _verdict_report "0
" "" table --view=tokens
}

[ -n "$_VERDICT_HOME" ]

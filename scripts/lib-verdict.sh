# shellcheck shell=bash
# Verdict files for shell scripts: source this in place of the old lib-verdict.sh.
#
#   . tools/contextkit/scripts/lib-verdict.sh
#   verdict_write fd-safety verdict CLEAN haiku "nothing found"
#   verdict_parse_all
#
# The functions, arguments and outputs of the old library, on top of verdict.py; what is different is
# told in manuals/verdicts.md. At most one process a call, and none where there is no store. Changes no
# option of the shell that sources it, and never ends it.

_VERDICT_HOME=${_VERDICT_HOME:-${BASH_SOURCE[0]:-$0}}
case $_VERDICT_HOME in
  */lib-verdict.sh) _VERDICT_HOME=$(cd "${_VERDICT_HOME%/*}" && pwd) ;;
  lib-verdict.sh) _VERDICT_HOME=$PWD ;;
esac

_verdict() {
  if [ -x "$_VERDICT_HOME/../.venv/bin/python" ]; then
    "$_VERDICT_HOME/../.venv/bin/python" "$_VERDICT_HOME/verdict.py" "$@"
  else
    python3 "$_VERDICT_HOME/verdict.py" "$@"
  fi
}

# Whether there may be anything to report: false only where a default store cannot exist.
_verdict_store() {
  [ -n "${CLAVAIN_VERDICT_DIR:-}" ] || [ -n "${CONTEXT_ROOT:-}" ] && return 0
  _verdict_at=$PWD
  while :; do
    [ -e "$_verdict_at/.clavain/verdicts" ] || [ -e "$_verdict_at/contextkit.yaml" ] && return 0
    [ -e "$_verdict_at/.git" ] || [ "$_verdict_at" = / ] || [ -z "$_verdict_at" ] && return 1
    _verdict_at=${_verdict_at%/*}
  done
}

# verdict_init: make the store.
verdict_init() {
  _verdict init >/dev/null
}

# verdict_write AGENT TYPE STATUS MODEL SUMMARY [DETAIL] [FILES_JSON] [COUNT] [TOKENS] [PHASE]
verdict_write() {
  if [ $# -lt 5 ] || [ -z "$1" ] || [ -z "$2" ] || [ -z "$3" ] || [ -z "$4" ] || [ -z "$5" ]; then
    echo "verdict_write: needs AGENT TYPE STATUS MODEL SUMMARY" >&2
    return 2
  fi
  _verdict write --agent="$1" --type="$2" --status="$3" --model="$4" --summary="$5" \
    --detail="${6:-}" --files-changed="${7:-}" --findings="${8:-}" --tokens="${9:-}" \
    --phase="${10:-}" >/dev/null
}

# verdict_read AGENT: STATUS, MODEL and SUMMARY, separated by tabs; 1 if there is none.
verdict_read() {
  _verdict read --agent="${1:-}"
}

# verdict_parse_all: STATUS, AGENT and SUMMARY, a line an agent.
verdict_parse_all() {
  if _verdict_store; then _verdict table; fi
}

# verdict_count_by_status: "3 CLEAN, 1 NEEDS_ATTENTION"
verdict_count_by_status() {
  if _verdict_store; then _verdict count; else echo "0 verdicts"; fi
}

# verdict_get_attention: AGENT, FINDINGS and DETAIL of those to look at.
verdict_get_attention() {
  if _verdict_store; then _verdict attention --plain; fi
}

# verdict_clean: remove all verdicts; what agents wrote stays.
verdict_clean() {
  if _verdict_store; then _verdict clean --all >/dev/null; fi
}

# verdict_total_tokens: the tokens that all agents spent.
verdict_total_tokens() {
  if _verdict_store; then _verdict tokens; else echo 0; fi
}

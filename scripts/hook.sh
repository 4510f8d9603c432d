#!/bin/sh
# Start a hook: hook.sh EVENT --host=NAME. With the toolkit's own Python where it is set up, else with
# python3. Where neither or no toolkit is there, nothing happens: a host must never be stopped.
here=${0%/*}
[ "$here" != "$0" ] || here=.
python=$here/../.venv/bin/python
[ -x "$python" ] || python=$(command -v python3) || {
  [ "$1" != SessionStart ] || case $(cat 2>/dev/null) in *'"compact"'*) ;; *)
    echo "{\"systemMessage\": \"contextkit's hooks do nothing in this session: python3 was not found.\"}";;
  esac
  exit 0
}
[ -f "$here/host_hook.py" ] || exit 0
exec "$python" -S "$here/host_hook.py" "$@"

#!/bin/sh
# Start run.py as hook.sh starts a hook: with the toolkit's own Python, else with python3. Where there
# is neither, what comes in goes out again.
here=${0%/*}
[ "$here" != "$0" ] || here=.
python=$here/../.venv/bin/python
[ -x "$python" ] || python=$(command -v python3) || exec cat
exec "$python" -S "$here/run.py" "$@"

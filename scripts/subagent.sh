# What waits for a subagent's command and writes down how it ended; `background.py` starts it.
#
#   $1 the folder    $2 where to run    $3 seconds, or 0    $4 the command
#   $5 seconds to end in    $6 what to run once it has ended and released the lock
#
# TERM reaches the whole group: the shell survives it to record the status, and starts nothing if
# TERM came first; the watchdog kills what does not end.
run=$1 place=$2 limit=$3 command=$4 grace=$5 after=$6
stopped=
trap : HUP INT
trap 'stopped=1' TERM
echo "$$" > "$run/pid.new" && mv "$run/pid.new" "$run/pid"
if [ "$limit" != 0 ]; then
  (
    trap '' HUP INT TERM
    nap=
    trap 'kill -KILL $nap; exit' USR1
    sleep "$limit" & nap=$!
    wait "$nap"
    trap '' USR1
    : > "$run/timed_out"
    kill -TERM "-$$"
    sleep "$grace"
    kill -KILL "-$$"
  ) 9>&- < /dev/null > /dev/null 2>&1 &
  watchdog=$!
fi
if [ -n "$stopped" ]; then
  status=143
elif cd "$place"; then
  /bin/sh -c "$command" < "$run/prompt.md"
  status=$?
else
  status=127
fi
[ "$limit" != 0 ] && kill -USR1 "$watchdog" 2> /dev/null
echo "$status" > "$run/exit.new" && mv "$run/exit.new" "$run/exit"
exec 9>&-
[ -z "$after" ] || /bin/sh -c "$after" < /dev/null > /dev/null 2>&1

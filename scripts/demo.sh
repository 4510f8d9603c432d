#!/bin/sh
# make demo: what contextkit does, as a shell session in a scratch copy of this checkout.
#
# Every `try` is printed and run as it stands, and shows the first lines of its output.
# all=1 shows all of them; keep=1 leaves the scratch folder. What stands in for agents are small
# shell commands: contextkit does not care who writes a report.
set -eu

for name in ${CONTEXTKIT_GIVEN:-}; do
    case $name in all | keep) ;; *)
        echo "demo: there is no variable $name; it takes all=1 and keep=1" >&2
        exit 2 ;;
    esac
done
command -v git > /dev/null || { echo "demo: git is not installed, or not on the PATH: install git" >&2; exit 1; }
kit=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/contextkit-demo.XXXXXX")
trap '[ "${keep:-}" ] || rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=demo GIT_AUTHOR_EMAIL=demo@example.org
export GIT_COMMITTER_NAME=demo GIT_COMMITTER_EMAIL=demo@example.org SESSION_ID=demo
unset CONTEXT_ROOT MAKEFLAGS MFLAGS CONTEXTKIT_GIVEN CLAUDE_PROJECT_DIR 2>/dev/null || true
stored=0 injected=0

make() { command make -s -f "$kit/Makefile" "$@"; }
tokens() { make memory_status file="$1" | sed 's/[^~]*~\([0-9]*\).*/\1/'; }
say() { printf '%s\n' "$*"; }

# try COMMAND: print it, run it, show what it printed; what it said on stderr is in .said.
try() {
    printf '  $ %s\n' "$1"
    eval "$1" > .out 2> .said || { cat .said; exit 1; }
    if [ "${all:-}" ]; then
        sed 's/^/    /' .out
    else
        grep -v '^ *$' .out | head -n "${lines:-3}" |
            sed -e '/.\{75\}/s/^\(.\{1,73\}\)[[:blank:]].*/\1 …/' -e 's/^/    /'
    fi
    lines=3
}

# carried WHAT: .out stands for the file .full from here on.
carried() {
    full=$(tokens .full) short=$(tokens .out)
    stored=$((stored + full)) injected=$((injected + short))
    printf '    => %s: ~%s tokens stored, ~%s passed on\n' "$1" "$full" "$short"
}

cd "$scratch"
git init -q -b feature/demo .
cp -R "$kit/README.md" "$kit/CHANGELOG.md" "$kit/manuals" .
printf '%s\n' .out .said .full hub.git other >> .git/info/exclude
git add -A
git commit -q -m "A project with manuals"
echo "contextkit, in a scratch repository"

say "1. A subagent returns a long report. Its caller gets a receipt with the path."
cat manuals/verdicts.md manuals/capsules.md > .full
lines=1 try 'make payload_store topic="How verdicts work" source=research < .full'
carried "the report"
if [ "${all:-}" ]; then
    say "   By its author, where a report has a Summary; by extraction, where it has none:"
    body=$(i=0; while [ $i -lt 40 ]; do i=$((i + 1)); printf '%s\n\n' \
        "- The reader $i asks for the settings $((i + 3)) times in src/part$i.py:$((i * 7))."; done)
    summary='The login takes 52 ms. Half of it is the parser (`src/login.py:42`). Read the settings once; a cache by time was rejected.'
    printf '# Login\n\n## Summary\n\n%s\n\n## Details\n\n%s\n' "$summary" "$body" > .full
    try 'make payload_store topic="By its author" source=research < .full'
    carried "the report with a Summary"
    printf '# Login\n\n## Details\n\n%s\n' "$body" > .full
    try 'make payload_store topic="By extraction" source=research < .full'
    carried "the same without one"
fi

say "2. Three reviewers write files. The main agent reads a line each."
mkdir review
for page in payloads handoffs hosts; do
    words=$(wc -w < "manuals/$page.md" | tr -d ' ')
    grade=P2 verdict=safe
    [ "$page" != hosts ] || grade=P1 verdict=needs-changes
    cat > "review/fd-$page.md" <<REVIEW
### Findings Index
- $grade | $grade-1 | "Length" | manuals/$page.md has $words words
Verdict: $verdict

### Issues Found
#### $grade-1. manuals/$page.md has $words words
A reader who wants one command reads all of it.
$(awk 'NF > 12 { print "Line " NR " alone has " NF " words, and " length " characters." }' "manuals/$page.md")
REVIEW
done
cat review/*.md > .full
lines=3 try 'make verdict_ingest dir=review'
carried "the reviews"

say "3. One agent hands over to the next: an artifact instead of its whole profile."
mkdir -p .claude/agents
cp manuals/payloads.md .claude/agents/sm.md
cp manuals/external-memory.md .claude/agents/dev.md
make handoff_switch to=@sm > .out 2> .said
lines=1 try 'make handoff_switch to=@dev story_id=4.2 next_action="Build the form."'
cp .claude/agents/sm.md .full
make handoff_show > .out 2> .said
carried "the profile of sm"

say "4. A note for later; then a capsule, which the next agent starts with."
try 'make remember_later m="The user wants small commits" topic=style'
make capsule_prompt stub=1 > prompt.txt 2> .said
capsule=$(echo parallelus/manuals/capsules/feature/demo/*.md)
# an agent would fill the outline in; here every <placeholder> becomes a sentence
sed -e 's/<[a-z][^>]*>/the login form is done/g' -e 's/- \[ \] \([AES]\)/- [x] \1/' \
    "$capsule" > reply.md
try "make capsule_save overwrite=1 file=\$capsule < reply.md"

say "5. A session works on a task and dies. The next one reads what it left."
make memory_plan task=login objective="A login form" pending="the token | the tests" > .out 2> .said
sh -c 'make() { command make -s -f "$0/Makefile" "$@"; }
    for page in capsules handoffs hosts; do
        make memory_finding task=login agent="reader-$page" status=completed \
            summary="$page.md is read: $(wc -l < "manuals/$page.md" | tr -d " ") lines" > /dev/null
        make memory_checkpoint task=login phase=exploration completed="$page.md" \
            summary="$page.md is read" next_action="Read the other pages" > /dev/null
    done
    kill -9 $$' "$kit" 2> .said || true
cat .temp/memory/*/* > .full 2> .said || true
lines=1 try 'make memory_recover budget=900'
carried "the task"

say "6. What is stored now, one line per system."
try 'make context_status all=1 | grep -E "^(payloads|memory)"'

say "7. Another clone gets it through a bare repository and knows where it is from."
git init -q --bare hub.git
git remote add origin "$scratch/hub.git"
git push -q origin feature/demo
git clone -q -b feature/demo hub.git other
export CONTEXT_MACHINE=laptop
try 'make context_push | tail -n 1'
CONTEXT_MACHINE=sandbox
try 'make -C other context_pull | tail -n 1'
lines=2 try 'make -C other context_why ref=payload:latest'

say "8. Where it all went, as a page for a browser (keep=1 leaves it there)."
try 'make context_report'

say "Stored: ~$stored tokens. Passed on: ~$injected. Still known: make context_eval"
[ "${keep:-}" ] && echo "Left in $scratch" || true

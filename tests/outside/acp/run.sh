#!/bin/bash
# Has real coding agents do a task for an editor, behind `offshoot acp AGENT`, against a model on loopback.
#
#   tests/outside/acp/run.sh [--agents DIRECTORY] [--only AGENT]... [PROGRAM]
#
#   --agents    where the agents are, or are to be installed from npm [/opt/offshoot-agents]. Not below /tmp: commands have their own.
#   --only      this agent alone
#   PROGRAM     offshoot [$OFFSHOOT, else target/debug/offshoot]
#
# It needs node, npm, git and Python, and installs packages, so it is no part of the tests that everybody runs. No agent needs an
# account. Everything else is in a temporary directory, which is removed. The table that it prints is in docs/acp.md.
set -euo pipefail

OPENCODE=1.18.33
GEMINI=0.61.0
QWEN=0.15.10

here=$(cd "$(dirname "$0")" && pwd)
agents=/opt/offshoot-agents
only=
program=${OFFSHOOT:-$here/../../../target/debug/offshoot}
while [ $# -gt 0 ]; do
    case $1 in
        --agents) agents=$2; shift ;;
        --only) only="$only $2"; shift ;;
        -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
        *) program=$1 ;;
    esac
    shift
done
only=${only:-gemini opencode qwen}
umask 022

# Installs a package, and does what its own script would do, since npm may run none.
install() { # NAME PACKAGE VERSION [SCRIPT]
    local place=$agents/$1
    if [ "$(cat "$place/version" 2>/dev/null)" = "$3" ]; then return; fi
    echo "installing $2 $3" >&2
    rm -rf "$place"
    mkdir -p "$place" "$agents/bin"
    npm install --silent --no-audit --no-fund --prefix "$place" "$2@$3" >&2
    if [ -n "${4:-}" ]; then (cd "$place/node_modules/$2" && node "$4" >&2); fi
    ln -sfn "../$1/node_modules/.bin/$1" "$agents/bin/$1"
    chmod -R a+rX "$agents"
    echo "$3" > "$place/version"
}
for agent in $only; do
    case $agent in
        opencode) install opencode opencode-ai $OPENCODE postinstall.mjs ;;
        gemini) install gemini @google/gemini-cli $GEMINI ;;
        qwen) install qwen @qwen-code/qwen-code $QWEN ;;
        *) echo "there is no agent $agent: gemini, opencode, qwen" >&2; exit 2 ;;
    esac
done

work=$(mktemp -d -p /var/tmp offshoot-acp.XXXXXX)
finish() {
    chmod -R u+rwX "$work" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
python=$(PATH=/usr/local/bin:/usr/bin:/bin command -v python3)
# Nothing of whoever runs this, but for where programs are.
env -i PATH="$agents/bin:$PATH" PYTHONDONTWRITEBYTECODE=1 "$python" "$here/editor.py" "$(realpath "$program")" "$work" $only || true

failed=0
printf '\n| agent | version | result |\n|---|---|---|\n'
for agent in $only; do
    found=$(sed -n "s/^$agent //p" "$work/results" 2>/dev/null)
    if [ "$found" != ok ]; then failed=1; fi
    echo "| $agent | $(cat "$agents/$agent/version") | ${found:-FAILED} |"
done
exit $failed

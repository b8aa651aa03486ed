#!/bin/bash
# Runs real coding agents by their presets, as root and as an ordinary user, without and with a terminal, against a model on loopback.
#
#   tests/outside/agents/run.sh [--agents DIRECTORY] [--user UID] [--only AGENT]... [--figures] [PROGRAM]
#
#   --agents    where the agents are, or are to be installed from npm [/opt/offshoot-agents]. Not below /tmp: commands have their own.
#   --user      as this user alone. Without, root runs them as root and as nobody, and anybody else as themselves.
#   --only      this agent alone
#   --figures   measures how long they take to start and to do a task of one turn, inside and outside, instead
#   PROGRAM     offshoot [$OFFSHOOT, else target/debug/offshoot]
#
# It needs node, npm, git, curl, tmux, openssl and Python, and installs packages, so it is no part of the tests that everybody runs. No agent
# needs an account. Everything else is in a temporary directory, which is removed. The table that it prints is in docs/agents.md.
set -euo pipefail

CLAUDE=2.1.197
CODEX=0.166.0
OPENCODE=1.18.33
GEMINI=0.61.0
QWEN=0.15.10
# nobody: some agents do not run as a user without a name.
SOMEBODY=65534

here=$(cd "$(dirname "$0")" && pwd)
agents=/opt/offshoot-agents
users=
only=
form=checks
program=${OFFSHOOT:-$here/../../../target/debug/offshoot}
while [ $# -gt 0 ]; do
    case $1 in
        --agents) agents=$2; shift ;;
        --user) users=$2; shift ;;
        --only) only="$only $2"; shift ;;
        --figures) form=figures ;;
        -*) sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2 ;;
        *) program=$1 ;;
    esac
    shift
done
if [ -z "$users" ]; then
    if [ "$(id -u)" = 0 ]; then users="0 $SOMEBODY"; else users=$(id -u); fi
fi
only=${only:-claude codex opencode gemini qwen}
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
        claude) install claude @anthropic-ai/claude-code $CLAUDE install.cjs ;;
        codex) install codex @openai/codex $CODEX ;;
        opencode) install opencode opencode-ai $OPENCODE postinstall.mjs ;;
        gemini) install gemini @google/gemini-cli $GEMINI ;;
        qwen) install qwen @qwen-code/qwen-code $QWEN ;;
        *) echo "there is no agent $agent: claude, codex, opencode, gemini, qwen" >&2; exit 2 ;;
    esac
done

# A place that every user reaches, with all that is needed: the repository may be closed to them.
work=$(mktemp -d -p /var/tmp offshoot-agents.XXXXXX)
pids=
# Ends what was started here.
finish() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    wait
    chmod -R u+rwX "$work" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM
chmod 755 "$work"
mkdir "$work/tools"
cp "$here"/*.py "$here"/../../../crates/profile/data/presets/*.toml "$work/tools/"
cp "$(realpath "$program")" "$work/tools/offshoot"
chmod -R a+rX "$work/tools"
python=$(PATH=/usr/local/bin:/usr/bin:/bin command -v python3)

for user in $users; do
    mkdir "$work/$user"
    as=()
    if [ "$user" != "$(id -u)" ]; then
        chown "$user:$user" "$work/$user"
        as=(setpriv --reuid "$user" --regid "$user" --clear-groups)
    fi
    # Nothing of whoever runs this, but for where programs are. The users at the same time, but for figures.
    (cd "$work/$user" && exec "${as[@]}" env -i PATH="$agents/bin:$PATH" PYTHONDONTWRITEBYTECODE=1 \
        "$python" "$work/tools/drive.py" "$form" "$work/tools/offshoot" "$work/$user" $only) &
    pids="$pids $!"
    if [ "$form" = figures ]; then wait $! || exit 1; fi
done
wait || true
pids=
if [ "$form" = figures ]; then exit; fi

# The table: what was found as root and as the other user.
failed=0
cell() { # USER AGENT FIELD
    local found
    found=$(sed -n "s/^$2 //p" "$work/$1/results" 2>/dev/null | cut -d' ' -f"$3")
    echo "${found:-FAILED}"
}
echo
head='| agent | version |' line='|---|---|'
for way in headless terminal 'key outside'; do
    for user in $users; do
        if [ "$user" = 0 ]; then who=root; else who="user"; fi
        head="$head $way, $who |" line="$line---|"
    done
done
printf '%s\n%s\n' "$head" "$line"
for agent in $only; do
    row="| $agent | $(cat "$agents/$agent/version") |"
    for field in 1 2 3; do
        for user in $users; do
            found=$(cell "$user" "$agent" "$field")
            if [ "$found" != ok ]; then failed=1; fi
            row="$row $found |"
        done
    done
    echo "$row"
done
exit "$failed"

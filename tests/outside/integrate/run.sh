#!/bin/sh
# Integrates real agents, has each run a command that changes something, and takes it back.
#
#   tests/outside/integrate/run.sh BIN [PROGRAM]     BIN has claude, codex and opencode; PROGRAM is by default target/debug/offshoot
#
# The agents must be installed, so it is no part of the tests that everybody runs. The model is `model.py`, on loopback; the home
# and the project are temporary. For each agent it checks: the command is refused in the agent's own shell, with the way to go
# on; the same command runs with the `exec` tool; the folder has no change, the workspace has one; --remove brings every file
# of settings back as it was. The table that it prints is in docs/integrate.md.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
agents=$(realpath "$1")
program=$(realpath "${2:-$here/../../../target/debug/offshoot}")
port=${PORT:-8192}
work=$(mktemp -d)
model=
finish() {
    if [ -n "$model" ]; then kill "$model" 2>/dev/null || true; fi
    wait 2>/dev/null || true
    chmod -R u+rwX "$work" && rm -rf "$work"
}
trap finish EXIT INT TERM

mkdir -p "$work/bin" "$work/home/.codex" "$work/home/.config/opencode"
ln -s "$program" "$work/bin/offshoot"
PATH="$work/bin:$agents:$PATH"
HOME="$work/home"
export PATH HOME OFFSHOOT_COMPACT__AUTO=false OFFSHOOT_GC__AUTO=false
export IS_SANDBOX=1 ANTHROPIC_API_KEY=key ANTHROPIC_BASE_URL="http://127.0.0.1:$port" OPENAI_API_KEY=key
export DISABLE_AUTOUPDATER=1 CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1 OPENCODE_DISABLE_AUTOUPDATE=1
# Codex gives servers few variables: vaults are at their usual place.
unset CLAUDE_CONFIG_DIR CODEX_HOME XDG_CONFIG_HOME XDG_DATA_HOME OFFSHOOT_HOME

# Settings that the agents need for this model, in odd layouts.
printf '{ "numStartups": 3,\n     "mcpServers": {} }' > "$HOME/.claude.json"
mkdir "$HOME/.claude"
printf '{\r\n\t"cleanupPeriodDays": 30\r\n}' > "$HOME/.claude/settings.json"
cat > "$HOME/.codex/config.toml" <<END
# mine
model = "scripted"   # odd
model_provider = "here"
[model_providers.here]
name = "here"
base_url = "http://127.0.0.1:$port/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
END
schema='$schema'
cat > "$HOME/.config/opencode/opencode.json" <<END
{
    // mine; opencode adds the next line itself where it is missing
    "$schema": "https://opencode.ai/config.json",
    "provider": {"here": {"npm": "@ai-sdk/openai-compatible", "name": "here",
        "options": {"baseURL": "http://127.0.0.1:$port/v1", "apiKey": "key"},
        "models": {"scripted": {"name": "scripted", "tool_call": true}}}},
    "model": "here/scripted", // last
}
END

ask() {
    case $1 in
        claude) claude -p --dangerously-skip-permissions "make it" ;;
        # The hook is trusted in the TUI (/hooks); here by an option.
        codex) codex exec --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust "make it" ;;
        opencode) opencode run --auto "make it" ;;
    esac
}
settings() {
    case $1 in
        claude) echo .claude.json .claude/settings.json ;;
        codex) echo .codex/config.toml .codex/hooks.json ;;
        opencode) echo .config/opencode/opencode.json .config/opencode/plugin/offshoot.js ;;
    esac
}
failed=0
say() { printf '| %s | %s | %s |\n' "$1" "$2" "$3"; }
check() {
    if [ "$3" = 0 ]; then say "$1" "$2" yes; else say "$1" "$2" "**no**"; failed=1; fi
}

printf '| agent | what | seen |\n|---|---|---|\n'
for agent in claude codex opencode; do
    folder="$work/$agent"
    mkdir -p "$folder/project" "$folder/before"
    printf 'one\n' > "$folder/project/a.txt"
    python3 "$here/model.py" "$port" "$folder/model.log" 'echo two > made.txt' & model=$!
    sleep 1
    for file in $(settings "$agent"); do
        if [ -e "$HOME/$file" ]; then cp "$HOME/$file" "$folder/before/$(basename "$file")"; fi
    done
    (
        cd "$folder/project"
        offshoot integrate "$agent" --yes > "$folder/integrate.out"
        ask "$agent" < /dev/null > "$folder/agent.out" 2>&1 || true
    )
    kill "$model"; wait "$model" 2>/dev/null || true; model=
    version=$("$agent" --version 2>/dev/null | head -1)
    grep -q 'tool of the MCP server' "$folder/model.log" && code=0 || code=1
    check "$version" "refused in its own shell, with the way to go on" $code
    grep -q '"call": "[^"]*exec"' "$folder/model.log" && code=0 || code=1
    check "$agent" "has the \`exec\` tool and calls it" $code
    test ! -e "$folder/project/made.txt" && code=0 || code=1
    check "$agent" "the folder has no change" $code
    name=$(cd "$folder/project" && offshoot workspace list --json | sed 's/.*"name":"\([^"]*\)".*/\1/')
    (cd "$folder/project" && offshoot fs cat /made.txt -w "$name" 2>/dev/null | grep -qx two) && code=0 || code=1
    check "$agent" "the workspace (\`$name\`) has the file" $code
    (cd "$folder/project" && offshoot integrate "$agent" --remove --yes > "$folder/remove.out")
    code=0
    for file in $(settings "$agent"); do
        saved="$folder/before/$(basename "$file")"
        if [ -e "$saved" ]; then cmp -s "$saved" "$HOME/$file" || code=2; else test ! -e "$HOME/$file" || code=1; fi
        # Claude Code writes its own file while it runs: then nothing of Offshoot may be left in it.
        if [ "$code" = 2 ] && [ "$file" = .claude.json ]; then grep -q offshoot "$HOME/$file" || code=0; fi
    done
    check "$agent" "\`--remove\` takes everything back" $code
    if [ "$failed" != 0 ] && [ -n "${KEEP:-}" ]; then cp -r "$folder" "$KEEP/"; fi
done

# Codex outside, its tools inside.
folder="$work/environment"
mkdir -p "$folder/project"
printf 'one\n' > "$folder/project/a.txt"
printf '{"OPENAI_API_KEY": "key"}' > "$HOME/.codex/auth.json"
python3 "$here/model.py" "$port" "$folder/model.log" 'echo two > made.txt; cat ~/.codex/auth.json || echo no login' & model=$!
sleep 1
(
    cd "$folder/project"
    offshoot integrate codex --environment --yes > "$folder/integrate.out"
    ask codex < /dev/null > "$folder/agent.out" 2>&1 || true
)
kill "$model"; wait "$model" 2>/dev/null || true; model=
grep -q 'no login' "$folder/model.log" && code=0 || code=1
check codex "with --environment: the command runs, and sees no login" $code
test ! -e "$folder/project/made.txt" && code=0 || code=1
check codex "the folder has no change" $code
# What Codex ran ends with it, and what it changed is sealed a moment later.
for _ in $(seq 100); do
    (cd "$folder/project" && offshoot ps --json | grep -q '"running":\[\]') && break
    sleep 0.2
done
(cd "$folder/project" && offshoot fs cat /made.txt -w codex 2>/dev/null | grep -qx two) && code=0 || code=1
check codex "the workspace (\`codex\`) has the file" $code
(cd "$folder/project" && offshoot integrate codex --remove --yes > "$folder/remove.out")
test ! -e "$HOME/.codex/environments.toml" && code=0 || code=1
check codex "\`--remove\` takes it back" $code
if [ "$failed" != 0 ] && [ -n "${KEEP:-}" ]; then cp -r "$folder" "$KEEP/"; fi
exit $failed

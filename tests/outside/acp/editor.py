"""Has each agent do a task for an editor, behind `offshoot acp`, and checks what came of it.

    editor.py PROGRAM PLACE AGENT...        PROGRAM is offshoot; the agents are found in PATH

PLACE is an empty directory. `results` in it gets one line for each agent: its name, and ok or FAILED.
"""

import json
import queue
import signal
import subprocess
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "agents"))

from agents import AGENTS  # noqa: E402
from drive import Bench, Model, scan, write  # noqa: E402

PATIENCE = 300
RULES = 'version = 1\n[[rule]]\nname = "ask"\ndecision = "require_approval"\nprefix = ["rm"]\nreason = "it deletes"\n'
# How somebody logs in, and variables that have the agent ask.
LOGIN = {"gemini": "gemini-api-key", "qwen": "openai"}
ASKS = {
    "opencode": {
        "OPENCODE_PERMISSION": json.dumps({"bash": "ask", "edit": "ask"}),
        "OPENCODE_CONFIG_CONTENT": json.dumps({"model": "anthropic/claude-sonnet-4-5"}),
    },
}


class Editor:
    """An editor that allows what it is asked about, once."""

    def __init__(self, command, folder, environment):
        self.agent = subprocess.Popen(
            command, cwd=folder, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self.heard, self.errors, self.number = queue.Queue(), [], 0
        self.questions, self.updates = [], []
        threading.Thread(target=self.listen, daemon=True).start()
        threading.Thread(target=lambda: self.errors.extend(self.agent.stderr), daemon=True).start()

    def listen(self):
        for line in self.agent.stdout:
            self.heard.put(json.loads(line))
        self.heard.put(None)

    def say(self, message):
        self.agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.agent.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        number = self.number
        self.say({"id": number, "method": method, "params": params})
        while True:
            message = self.heard.get(timeout=PATIENCE)
            if message is None:
                raise OSError(f"it ended before it answered {method}: {''.join(self.errors)[-500:]}")
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise OSError(f"{method}: {message['error']}")
                return message["result"]
            self.answer(message)

    def answer(self, message):
        method, params = message.get("method"), message.get("params") or {}
        if method == "session/update":
            self.updates.append(params["update"])
        if method is None or "id" not in message:
            return
        if method == "session/request_permission":
            self.questions.append(params)
            chosen = next(option for option in params["options"] if option["kind"] == "allow_once")
            outcome = {"outcome": "selected", "optionId": chosen["optionId"]}
            self.say({"id": message["id"], "result": {"outcome": outcome}})
        else:
            self.say({"id": message["id"], "error": {"code": -32601, "message": "not here"}})

    def close(self):
        self.agent.stdin.close()
        try:
            return self.agent.wait(60)
        except subprocess.TimeoutExpired:
            self.agent.kill()
            return self.agent.wait()


def script(bench):
    greeting = str(bench.project / "greeting.txt")
    steps = [
        ["read", greeting],
        ["edit", greeting, "hello", "hello-1"],
        ["shell", "echo made > made.txt"],
        ["shell", "rm old.txt"],
    ]
    bench.model.tasks.write_text(json.dumps({"acp": steps}))


def diffs(content):
    return {Path(block["path"]).name for block in content or [] if block.get("type") == "diff"}


def text(content):
    return "\n".join(block.get("content", {}).get("text", "") for block in content or [] if block.get("type") == "content")


def task(bench):
    """One session, from the hello to what is in its workspace."""
    way, name = "editor", bench.agent.name
    bench.failed[way] = 0
    write(bench.home / ".config/offshoot/policy.toml", RULES)
    script(bench)
    given = ASKS.get(name, {})
    options = [word for variable in given for word in ("-e", variable)]
    before = scan(bench.project)
    command = [bench.program, "acp", *options, name]
    editor = Editor(command, bench.project, {**bench.environment, **given})
    try:
        abilities = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
        about = {"name": "outside", "version": "1"}
        editor.ask("initialize", {"protocolVersion": 1, "clientCapabilities": abilities, "clientInfo": about})
        if name in LOGIN:
            editor.ask("authenticate", {"methodId": LOGIN[name]})
        session = editor.ask("session/new", {"cwd": str(bench.project), "mcpServers": []})["sessionId"]
        prompt = [{"type": "text", "text": "Please do task:acp"}]
        ended = editor.ask("session/prompt", {"sessionId": session, "prompt": prompt})["stopReason"]
        done = ended == "end_turn" and bench.model.finished("acp")
        bench.check(way, "the turn does the task", "" if done else f"{ended} {''.join(editor.errors)[-500:]}")
        bench.check(way, "the folder is untouched", "" if scan(bench.project) == before else "it changed")
        shown = [update for update in editor.updates if str(update.get("toolCallId", "")).startswith("offshoot-changes-")]
        files = diffs(shown[-1]["content"]) if shown else set()
        wanted = {"greeting.txt", "made.txt", "old.txt"}
        bench.check(way, "the editor shows the changes as diffs", "" if files == wanted else str(files))
        tried = [question for question in editor.questions if "Tried in a copy" in text(question["toolCall"].get("content"))]
        seen = diffs(tried[0]["toolCall"]["content"]) if tried else set()
        wrong = "" if "old.txt" in seen and len(tried) == 1 else f"{len(editor.questions)} questions, {seen}"
        bench.check(way, "the command that needs an approval is asked about with its diff", wrong)
        editor.ask("session/close", {"sessionId": session})
    finally:
        code = editor.close()
    bench.check(way, "it ends", "" if code == 0 else f"exit code {code}: {''.join(editor.errors)[-500:]}")
    found = json.loads(bench.offshoot("diff", "-w", f"{name}-1", "--json").stdout or "{}").get("result", {})
    paths = {change["path"] for change in found.get("changes", [])}
    wanted = {"/greeting.txt", "/made.txt", "/old.txt"}
    bench.check(way, "its workspace has the changes", "" if paths == wanted else str(paths))
    all_ = json.loads(bench.offshoot("approvals", "list", "--all", "--json").stdout or "{}").get("result", {})
    states = [(one["state"], one["decision"]["by"].get("session")) for one in all_.get("approvals", [])]
    bench.check(way, "the approval is recorded", "" if states == [("approved", "elicitation:outside")] else str(states))
    bench.kept(way)


def main():
    program, place, *names = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for agent in [agent for agent in AGENTS if agent.name in names]:
        own = Path(place, agent.name)
        own.mkdir(parents=True)
        model = Model(own)
        try:
            bench = Bench(program, own, agent, model)
            bench.failed["editor"] = 0
            try:
                task(bench)
            except (OSError, ValueError, KeyError, StopIteration, queue.Empty, subprocess.TimeoutExpired) as error:
                bench.check("editor", "goes through", repr(error))
        finally:
            model.close()
        with open(Path(place, "results"), "a", encoding="utf8") as file:
            print(agent.name, "FAILED" if bench.failed["editor"] else "ok", file=file)


if __name__ == "__main__":
    main()

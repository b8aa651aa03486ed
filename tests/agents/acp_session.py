#!/usr/bin/env python3
"""One session with an agent that speaks the Agent Client Protocol, as an editor has it; for real agents, which no test starts.

usage: acp_session.py [--auth METHOD] [--deny] PROMPT -- COMMAND ...
for example: acp_session.py --auth gemini-api-key 'Say hello' -- offshoot acp --net host -e GEMINI_API_KEY -- gemini --acp

It prints a line for each message, allows what is asked for, and exits with 0 if the turn came to its end.
"""

import argparse
import json
import os
import subprocess
import sys


def main():
    if "--" not in sys.argv:
        sys.exit(__doc__)
    at = sys.argv.index("--")
    own, command = sys.argv[1:at], sys.argv[at + 1:]
    parser = argparse.ArgumentParser()
    parser.add_argument("--auth")
    parser.add_argument("--deny", action="store_true")
    parser.add_argument("prompt")
    args = parser.parse_args(own)
    agent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    number = 0

    def say(message):
        agent.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        agent.stdin.flush()

    def heard(message):
        method, params = message.get("method"), message.get("params") or {}
        print(json.dumps(message)[:400], flush=True)
        if "id" not in message or method is None:
            return
        if method == "session/request_permission":
            wanted = "reject_once" if args.deny else "allow_once"
            chosen = next(option for option in params["options"] if option["kind"] == wanted)
            outcome = {"outcome": "selected", "optionId": chosen["optionId"]}
            say({"id": message["id"], "result": {"outcome": outcome}})
        else:
            say({"id": message["id"], "error": {"code": -32601, "message": "not here"}})

    def ask(method, params):
        nonlocal number
        number += 1
        say({"id": number, "method": method, "params": params})
        for line in agent.stdout:
            message = json.loads(line)
            if message.get("id") == number and "method" not in message:
                print(f"{method}: {json.dumps(message)[:400]}", flush=True)
                if "error" in message:
                    agent.stdin.close()
                    agent.wait()
                    sys.exit(1)
                return message["result"]
            heard(message)
        sys.exit(f"it ended without an answer to {method}")

    abilities = {"fs": {"readTextFile": True, "writeTextFile": True}, "terminal": True}
    ask("initialize", {"protocolVersion": 1, "clientCapabilities": abilities})
    if args.auth:
        ask("authenticate", {"methodId": args.auth})
    session = ask("session/new", {"cwd": os.getcwd(), "mcpServers": []})["sessionId"]
    ask("session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": args.prompt}]})
    ask("session/close", {"sessionId": session})
    agent.stdin.close()
    sys.exit(agent.wait())


main()

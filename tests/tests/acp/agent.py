"""An agent that does what prompts say, line by line."""

import json
import os
import sys

counter = 0
cancelled = False
waiting = []


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def hear():
    global cancelled
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message = json.loads(line)
    if message.get("method") == "session/cancel":
        cancelled = True
    return message


def ask(method, params):
    global counter
    counter += 1
    number = f"agent-{counter}"
    say({"id": number, "method": method, "params": params})
    while True:
        message = hear()
        if message.get("id") == number and "method" not in message:
            return message
        waiting.append(message)


def update(session, text):
    content = {"type": "text", "text": text}
    change = {"sessionUpdate": "agent_message_chunk", "content": content}
    say({"method": "session/update", "params": {"sessionId": session, "update": change}})


def reply(session, message):
    error = message.get("error")
    update(session, "error: " + error["message"] if error else json.dumps(message["result"]))


def do(session, line):
    word, _, rest = line.partition(" ")
    path, _, text = rest.partition(" ")
    place = os.path.join(os.getcwd(), path)
    if word == "write":
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w") as file:
            file.write(text + "\n")
    elif word == "link":
        os.symlink(text, place)
    elif word == "cat":
        with open(place) as file:
            update(session, file.read())
    elif word == "fs-write":
        reply(session, ask("fs/write_text_file", {"sessionId": session, "path": place, "content": text + "\n"}))
    elif word == "fs-read":
        reply(session, ask("fs/read_text_file", {"sessionId": session, "path": place}))
    elif word == "terminal":
        reply(session, ask("terminal/create", {"sessionId": session, "command": "ls"}))
    elif word in ("permit", "titled"):
        options = [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]
        call = {"toolCallId": "call-1", "title": rest, "kind": "execute"}
        if word == "permit":
            call["rawInput"] = {"command": rest}
        reply(session, ask("session/request_permission", {"sessionId": session, "toolCall": call, "options": options}))
    elif word == "env":
        update(session, os.environ.get(rest, "not set"))
    elif word == "hang":
        while True:
            hear()
    elif word == "wait":
        while not cancelled:
            hear()
    elif word == "garbage":
        print("Loaded { cached credentials.\n\x00\xff", flush=True)
    elif word == "crash":
        print(rest, file=sys.stderr, flush=True)
        os._exit(3)


def prompt(session, params):
    global cancelled
    cancelled = False
    for line in params["prompt"][0]["text"].splitlines():
        do(session, line)
    return {"stopReason": "cancelled" if cancelled else "end_turn"}


def answer(method, params):
    if method == "initialize":
        told = json.dumps(params["clientCapabilities"], sort_keys=True)
        sessions = {"list": {}} if "no-fork" in sys.argv else {"fork": {}, "list": {}}
        abilities = {"loadSession": True, "sessionCapabilities": sessions, "_meta": {"told": told}}
        return {"protocolVersion": 1, "agentCapabilities": abilities, "authMethods": []}
    if method == "session/new":
        return {"sessionId": "s1"}
    if method == "session/fork":
        return {"sessionId": "s2"}
    if method == "session/load":
        update(params["sessionId"], "as before")
        return {}
    if method == "session/prompt":
        return prompt(params["sessionId"], params)
    return None


if len(sys.argv) > 1:
    do("", " ".join(sys.argv[1:]))
while True:
    message = waiting.pop(0) if waiting else hear()
    if "id" not in message or "method" not in message:
        continue
    result = answer(message["method"], message.get("params") or {})
    if result is None:
        say({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
    else:
        say({"id": message["id"], "result": result})

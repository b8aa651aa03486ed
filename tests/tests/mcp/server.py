"""A server of tools on standard input and output. What it does wrong is its first argument."""

import json
import os
import socket
import sys
import time

mode = sys.argv[1] if len(sys.argv) > 1 else ""


def say(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def described(name, text, /, **properties):
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"name": name, "description": text, "inputSchema": schema, "annotations": {"readOnlyHint": True}}


def tools():
    # The project decides what this one says.
    echo = "Says it again"
    if os.path.exists("description"):
        with open("description", encoding="utf-8") as file:
            echo = file.read()
    found = [
        described("echo", echo, text="string"),
        described("write", "Writes a file", path="string", text="string"),
        described("read", "Reads a file", path="string"),
        described("connect", "Connects to a port", port="integer"),
        described("env", "Tells a variable", name="string"),
        described("slow", "Takes its time"),
        described("crash", "Ends the server"),
        described("big", "Says much", size="integer"),
        described("fails", "Says that it failed"),
    ]
    if os.path.exists("more"):
        found.append(described("more", "One more"))
    return found


def call(name, arguments, token):
    if name == "echo":
        return arguments["text"]
    if name == "write":
        with open(arguments["path"], "w", encoding="utf-8") as file:
            file.write(arguments["text"])
        return "written"
    if name == "read":
        with open(os.path.expanduser(arguments["path"]), encoding="utf-8") as file:
            return file.read()
    if name == "connect":
        socket.create_connection(("127.0.0.1", arguments["port"]), 5).close()
        return "connected"
    if name == "env":
        return os.environ.get(arguments["name"], "unset")
    if name == "slow":
        progress = {"progressToken": token, "progress": 1, "total": 2, "message": "half\x1b[31m done"}
        say({"method": "notifications/progress", "params": progress})
        time.sleep(60)
    if name == "crash":
        sys.stderr.write("out of luck\n")
        sys.stderr.flush()
        os._exit(7)
    if name == "big":
        return "x" * arguments["size"]
    raise ValueError("no such luck")


if mode == "dies":
    sys.stderr.write("cannot find my \x1b[31msettings\n")
    sys.exit(3)
if mode == "garbage":
    while True:
        print("Welcome to my server!", flush=True)
if mode == "flood":
    while True:
        sys.stdout.write("x" * 65536)
if mode == "chatty":
    print("Welcome to my server!", flush=True)

for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if mode == "silent" or number is None:
        continue
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        about = {"name": "scripted", "version": "1.0"}
        result = {"protocolVersion": version, "capabilities": {"tools": {"listChanged": True}}, "serverInfo": about}
        if os.path.exists("instructions"):
            with open("instructions", encoding="utf-8") as file:
                result["instructions"] = file.read()
        say({"id": number, "result": result})
    elif method == "tools/list":
        if mode == "endless":
            say({"id": number, "result": {"tools": [], "nextCursor": "again"}})
        else:
            say({"id": number, "result": {"tools": tools()}})
    elif method == "tools/call":
        params = message["params"]
        token = params.get("_meta", {}).get("progressToken")
        try:
            text, failed = call(params["name"], params.get("arguments", {}), token), False
        except Exception as error:
            text, failed = f"{type(error).__name__}: {error}", True
        say({"id": number, "result": {"content": [{"type": "text", "text": text}], "isError": failed}})
    else:
        say({"id": number, "error": {"code": -32601, "message": "no such method"}})

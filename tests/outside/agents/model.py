"""A model on loopback that does what a script says, in the four protocols that coding agents speak.

    model.py TASKS LOG CERTIFICATE KEY        listens on three free ports, prints them, and runs until it is ended

The first port is the model at 127.0.0.1, the second the same at 127.0.0.2 with TLS, the third a server that nobody is allowed to reach; it
answers `reached` and writes that down.

TASKS is a JSON file, read for each request: task name -> steps. A step is [kind, ...]: ["read", path], ["edit", path, old, new] or
["shell", command]. A prompt chooses its task by the word `task:NAME`. The results of tools that came after that prompt say which
step is next; after the last one the answer is the text `finished NAME`. LOG gets one JSON line for each request: the task, the
tasks that the conversation had before, what the last tool printed, and the key that came with it.
"""

import gzip
import json
import re
import ssl
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count

TASK = re.compile(r"\btask:([a-z0-9-]+)")
# What the tools of agents are called, and their arguments.
TOOLS = {
    "read": {"read", "read_file"},
    "edit": {"edit", "replace"},
    "shell": {"bash", "shell", "shell_command", "exec_command", "run_shell_command"},
}
ARGUMENTS = {
    "path": {"file_path", "filepath", "absolute_path", "path"},
    "old": {"old_string", "oldstring"},
    "new": {"new_string", "newstring"},
    "command": {"command", "cmd"},
}
NOTHING = {"string": "by the script", "boolean": False, "integer": 0, "number": 0, "array": [], "object": {}}
numbers = count(1)
writing = threading.Lock()


def plain(value):
    """The text of a message's content, whichever way it is wrapped."""
    if isinstance(value, list):
        return "\n".join(plain(item) for item in value)
    if isinstance(value, dict):
        return plain(next((value[key] for key in ("text", "content", "output", "response") if key in value), ""))
    return value if isinstance(value, str) else ""


class Conversation:
    """What a request says: the tools, the tasks in the order of their prompts, and the results since the last prompt."""

    def __init__(self):
        self.tools, self.tasks, self.results = {}, [], []

    def prompt(self, text):
        for name in TASK.findall(text):
            # An agent that goes on with a conversation may tell what was in it.
            if name not in self.tasks:
                self.tasks.append(name)
                self.results = []

    def result(self, text):
        self.results.append(text)


def anthropic(body):
    talk = Conversation()
    talk.tools = {tool["name"]: tool.get("input_schema") for tool in body.get("tools", [])}
    for message in body.get("messages", []):
        content = message["content"]
        for part in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if part.get("type") == "tool_result":
                talk.result(plain(part.get("content")))
            elif part.get("type") == "text" and message["role"] == "user":
                talk.prompt(part["text"])
    return talk


def responses(body):
    talk = Conversation()
    talk.tools = {tool["name"]: tool.get("parameters") for tool in body.get("tools", []) if tool.get("type") == "function"}
    for item in body.get("input", []):
        if str(item.get("type")).endswith("call_output"):
            talk.result(plain(item.get("output")))
        elif item.get("role") == "user":
            talk.prompt(plain(item.get("content")))
    return talk


def completions(body):
    talk = Conversation()
    talk.tools = {tool["function"]["name"]: tool["function"].get("parameters") for tool in body.get("tools", [])}
    for message in body.get("messages", []):
        if message["role"] == "tool":
            talk.result(plain(message.get("content")))
        elif message["role"] == "user":
            talk.prompt(plain(message.get("content")))
    return talk


def gemini(body):
    talk = Conversation()
    for group in body.get("tools", []):
        for tool in group.get("functionDeclarations", []):
            talk.tools[tool["name"]] = tool.get("parametersJsonSchema") or tool.get("parameters")
    for content in body.get("contents", []):
        for part in content.get("parts", []):
            if "functionResponse" in part:
                talk.result(json.dumps(part["functionResponse"].get("response")))
            elif content.get("role") == "user":
                talk.prompt(part.get("text", ""))
    return talk


def arguments(schema, values):
    """Fills in a tool's arguments by their names; what else it needs is made up."""
    made = {}
    for name, what in ((schema or {}).get("properties") or {}).items():
        kind = next((kind for kind, names in ARGUMENTS.items() if name.lower() in names and kind in values), None)
        if kind:
            made[name] = ["bash", "-c", values[kind]] if what.get("type") == "array" else values[kind]
        elif name in (schema.get("required") or []):
            made[name] = what["enum"][0] if what.get("enum") else NOTHING.get(str(what.get("type")).lower(), "")
    return made


def example(schema):
    """The smallest document that a schema takes."""
    kind = str(schema.get("type", "object")).lower()
    if schema.get("enum"):
        return schema["enum"][0]
    if kind == "object":
        fields = schema.get("properties") or {}
        return {name: example(fields[name]) for name in schema.get("required", []) if name in fields}
    return NOTHING.get(kind)


def decide(talk, tasks):
    """What the model does next: a text, or (tool, arguments)."""
    if not talk.tasks or not talk.tools:
        return "ok"
    name = talk.tasks[-1]
    steps = tasks.get(name, [])
    if len(talk.results) >= len(steps):
        return f"finished {name}"
    kind, *values = steps[len(talk.results)]
    tool = next((tool for tool in talk.tools if tool.lower() in TOOLS[kind]), None)
    if kind != "shell" and tool is None:
        # An agent without tools for files, such as Codex, has its shell.
        path, old, new = [*values, "", ""][:3]
        command = f"cat '{path}'" if kind == "read" else f"sed -i 's/{old}/{new}/' '{path}'"
        return decide_shell(talk, command)
    if kind == "shell":
        return decide_shell(talk, values[0])
    return tool, arguments(talk.tools[tool], dict(zip(("path", "old", "new"), values)))


def decide_shell(talk, command):
    tool = next((tool for tool in talk.tools if tool.lower() in TOOLS["shell"]), None)
    return (tool, arguments(talk.tools[tool], {"command": command})) if tool else "no tool for a shell"


# Each returns the answer as a whole, and as events of a stream.


def by_anthropic(act, model):
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": f"msg_{next(numbers)}", "type": "message", "role": "assistant", "model": model, "stop_sequence": None, "usage": usage}
    if isinstance(act, str):
        block, empty, stop = {"type": "text", "text": act}, {"type": "text", "text": ""}, "end_turn"
        delta = {"type": "text_delta", "text": act}
    else:
        block = {"type": "tool_use", "id": f"toolu_{next(numbers)}", "name": act[0], "input": act[1]}
        empty, stop = {**block, "input": {}}, "tool_use"
        delta = {"type": "input_json_delta", "partial_json": json.dumps(act[1])}
    events = [
        {"type": "message_start", "message": {**head, "content": [], "stop_reason": None}},
        {"type": "content_block_start", "index": 0, "content_block": empty},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
        {"type": "message_stop"},
    ]
    return {**head, "content": [block], "stop_reason": stop}, events


def by_responses(act, model):
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    head = {"id": f"resp_{next(numbers)}", "object": "response", "model": model, "output": [], "status": "in_progress"}
    if isinstance(act, str):
        content = [{"type": "output_text", "text": act, "annotations": []}]
        item = {"type": "message", "id": f"msg_{next(numbers)}", "role": "assistant", "content": content}
    else:
        call = f"call_{next(numbers)}"
        item = {"type": "function_call", "id": f"fc_{call}", "call_id": call, "name": act[0], "arguments": json.dumps(act[1])}
    whole = {**head, "status": "completed", "output": [item], "usage": usage}
    events = [
        {"type": "response.created", "response": head},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return whole, events


def by_completions(act, model):
    head = {"id": f"chatcmpl-{next(numbers)}", "created": 1, "model": model}
    if isinstance(act, str):
        message, why = {"role": "assistant", "content": act}, "stop"
        delta = message
    else:
        call = {"id": f"call_{next(numbers)}", "type": "function", "function": {"name": act[0], "arguments": json.dumps(act[1])}}
        message, why = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
        delta = {**message, "tool_calls": [{"index": 0, **call}]}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    chunk = {**head, "object": "chat.completion.chunk"}
    events = [
        {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": why}]},
        {**chunk, "choices": [], "usage": usage},
    ]
    whole = {**head, "object": "chat.completion", "choices": [{"index": 0, "message": message, "finish_reason": why}], "usage": usage}
    return whole, [*events, "[DONE]"]


def by_gemini(act, model):
    part = {"text": act} if isinstance(act, str) else {"functionCall": {"name": act[0], "args": act[1]}}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"index": 0, "finishReason": "STOP", "content": {"role": "model", "parts": [part]}}
    whole = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}
    return whole, [whole]


def protocol(path):
    """Which protocol a request is in: how it is read, and how it is answered."""
    if path.endswith("/messages"):
        return anthropic, by_anthropic
    if path.endswith("/responses"):
        return responses, by_responses
    if path.endswith("/chat/completions"):
        return completions, by_completions
    if path.endswith(("generateContent", "GenerateContent")):
        return gemini, by_gemini
    return None


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.note()
        if self.headers.get("Upgrade"):
            # Codex then goes on without a web socket.
            return self.whole({"error": {"message": "no web sockets here"}}, 426)
        if self.path.split("?")[0].rstrip("/").endswith("/models"):
            return self.whole({"object": "list", "data": [{"id": "scripted", "object": "model", "type": "model"}], "models": []})
        self.whole({"error": {"message": "not here"}}, 404)

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.body() or b"{}")
        path = self.path.split("?")[0]
        if path.endswith((":countTokens", "/count_tokens")):
            return self.whole({"input_tokens": 1, "totalTokens": 1})
        found = protocol(path)
        if found is None:
            self.note()
            return self.whole({"error": {"message": "not here"}}, 404)
        read, answer = found
        talk = read(body)
        with open(sys.argv[1], encoding="utf8") as file:
            act = decide(talk, json.load(file))
        wanted = (body.get("generationConfig") or {}).get("responseJsonSchema") or (body.get("generationConfig") or {}).get("responseSchema")
        wanted = wanted or ((body.get("output_config") or {}).get("format") or {}).get("schema")
        act = json.dumps(example(wanted)) if wanted else act
        self.note(tasks=talk.tasks, step=len(talk.results), result=(talk.results or [""])[-1], act=act, tools=sorted(talk.tools))
        whole, events = answer(act, body.get("model", "scripted"))
        if body.get("stream") or "stream" in path:
            self.stream(events)
        else:
            self.whole(whole)

    def key(self):
        named = (self.headers.get(name) for name in ("x-api-key", "x-goog-api-key", "Authorization"))
        return [value for value in named if value]

    def note(self, **more):
        with writing, open(sys.argv[2], "a", encoding="utf8") as file:
            print(json.dumps({"method": self.command, "path": self.path, "agent": self.headers.get("User-Agent"), "key": self.key(), **more}), file=file)

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        else:
            data = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                data += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        return gzip.decompress(data) if self.headers.get("Content-Encoding") == "gzip" else data

    def whole(self, document, status=200):
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for event in events:
            name = f"event: {event['type']}\n" if isinstance(event, dict) and "type" in event else ""
            self.wfile.write(f"{name}data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode())
        self.close_connection = True


class Forbidden(Model):
    """Nobody may come here."""

    def do_GET(self):
        with writing, open(sys.argv[2], "a", encoding="utf8") as file:
            print(json.dumps({"forbidden": self.path}), file=file)
        self.whole("reached")

    do_POST = do_HEAD = do_GET


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def main():
    model, forbidden = (Server(("127.0.0.1", 0), handler) for handler in (Model, Forbidden))
    secure = Server(("127.0.0.2", 0), Model)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*sys.argv[3:5])
    secure.socket = context.wrap_socket(secure.socket, server_side=True)
    for other in (secure, forbidden):
        threading.Thread(target=other.serve_forever, daemon=True).start()
    print(model.server_port, secure.server_port, forbidden.server_port, flush=True)
    model.serve_forever()


if __name__ == "__main__":
    main()

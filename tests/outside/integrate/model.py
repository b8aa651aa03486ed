"""A model on loopback that always does the same: a command in the agent's own shell, the same with the `exec` tool of Offshoot,
then the end. It speaks Anthropic Messages, OpenAI Responses and Chat Completions, all streamed.

usage: model.py PORT LOG COMMAND          LOG gets one line for each request: the names of tools, and the last result
"""
import json, sys, time, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, LOG, COMMAND = int(sys.argv[1]), sys.argv[2], sys.argv[3]
SHELLS = ["Bash", "exec_command", "shell_command", "shell", "bash"]


def ident(prefix):
    return prefix + uuid.uuid4().hex[:24]


def text_of(content):
    if isinstance(content, list):
        return "\n".join(text_of(one) for one in content)
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content") or content.get("output"))
    return content or ""


def tools_of(body):
    """Name -> namespace, for all tools that there are."""
    found = {}
    for tool in body.get("tools") or []:
        if tool.get("type") == "namespace":
            found.update({one["name"]: tool["name"] for one in tool.get("tools", [])})
        else:
            found[tool.get("name") or tool.get("function", {}).get("name")] = None
    return {name: space for name, space in found.items() if name}


def results_of(body):
    results = []
    for message in body.get("messages") or []:
        if message.get("role") == "tool":
            results.append(text_of(message.get("content")))
        parts = message.get("content") if isinstance(message.get("content"), list) else []
        results += [text_of(part.get("content")) for part in parts if part.get("type") == "tool_result"]
    for item in body.get("input") if isinstance(body.get("input"), list) else []:
        if str(item.get("type")).endswith("call_output"):
            results.append(text_of(item.get("output")))
    return results


def decide(tools, results):
    """None for text, else the tool, its namespace and the arguments."""
    shell = next((name for name in SHELLS if name in tools), None)
    if shell is None:
        return None
    if len(results) == 0:
        key = "cmd" if shell == "exec_command" else "command"
        return shell, tools[shell], {key: COMMAND, "description": "a step"}
    inside = [name for name, space in tools.items()
              if "offshoot" in name + str(space) and name.split("_")[-1] == "exec"]
    if len(results) == 1 and inside:
        return inside[0], tools[inside[0]], {"command": COMMAND}
    return None


def anthropic(act, model):
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": ident("msg_"), "type": "message", "role": "assistant", "model": model, "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": usage}
    if act:
        start = {"type": "tool_use", "id": ident("toolu_"), "name": act[0], "input": {}}
        delta, stop = {"type": "input_json_delta", "partial_json": json.dumps(act[2])}, "tool_use"
    else:
        start, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}, "end_turn"
    events = [("message_start", {"message": message}), ("content_block_start", {"index": 0, "content_block": start}),
              ("content_block_delta", {"index": 0, "delta": delta}), ("content_block_stop", {"index": 0}),
              ("message_delta", {"delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}),
              ("message_stop", {})]
    return [(name, {"type": name, **data}) for name, data in events]


def responses(act, model):
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    base = {"id": ident("resp_"), "object": "response", "created_at": int(time.time()), "model": model, "output": []}
    if act:
        item = {"type": "function_call", "id": ident("fc_"), "call_id": ident("call_"), "name": act[0],
                "arguments": json.dumps(act[2])}
        if act[1]:
            item["namespace"] = act[1]
    else:
        part = {"type": "output_text", "text": "done", "annotations": []}
        item = {"type": "message", "id": ident("msg_"), "role": "assistant", "content": [part]}
    whole = {**base, "status": "completed", "output": [item], "usage": usage}
    events = [("response.created", {"response": base}), ("response.output_item.done", {"output_index": 0, "item": item}),
              ("response.completed", {"response": whole})]
    return [(name, {"type": name, "sequence_number": at, **data}) for at, (name, data) in enumerate(events)]


def chat(act, model):
    head = {"id": ident("chatcmpl-"), "object": "chat.completion.chunk", "created": int(time.time()), "model": model}
    if act:
        call = {"index": 0, "id": ident("call_"), "type": "function",
                "function": {"name": act[0], "arguments": json.dumps(act[2])}}
        delta, end = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
    else:
        delta, end = {"role": "assistant", "content": "done"}, "stop"
    chunk = lambda delta, end=None: (None, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
    return [chunk(delta), chunk({}, end), (None, "[DONE]")]


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, kind, out, code=200):
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(out)

    def do_GET(self):
        self.reply("application/json", json.dumps({"data": [], "models": []}).encode())

    do_HEAD = do_GET

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        path = self.path.split("?")[0]
        speak = {"messages": anthropic, "responses": responses, "completions": chat}.get(path.rsplit("/", 1)[-1])
        if speak is None:
            return self.reply("application/json", b'{"input_tokens": 1}')
        tools, results = tools_of(body), results_of(body)
        act = decide(tools, results)
        with open(LOG, "a") as log:
            last = results[-1] if results else None
            print(json.dumps({"tools": sorted(tools), "result": last, "call": act and act[0]}), file=log)
        out = ""
        for name, data in speak(act, body.get("model")):
            out += ("event: %s\n" % name if name else "") + "data: %s\n\n" % (data if isinstance(data, str) else json.dumps(data))
        self.reply("text/event-stream", out.encode())


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()

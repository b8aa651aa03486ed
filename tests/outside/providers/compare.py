"""Asks the same by the official clients and by `offshoot-provider`, and prints what differs as a table."""

import json
import subprocess
import sys
import urllib.request

import anthropic
import openai

PROGRAM, SERVER, LLAMA = sys.argv[1:]
PROMPT = "What is here?"
SYSTEM = "You are a helpful assistant."
PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}}
failed = False


def row(what, differences):
    global failed
    failed = failed or bool(differences)
    print(f"| {what} | {'same' if not differences else 'DIFFERS: ' + '; '.join(differences)} |", flush=True)


def ours(api, base, model, prompt):
    run = subprocess.run(
        [PROGRAM, "ask", api, base, model, prompt], capture_output=True, text=True, timeout=300
    )
    if run.returncode:
        raise SystemExit(f"{api}: {run.stderr}")
    return json.loads(run.stdout)


def seen():
    with urllib.request.urlopen(f"{SERVER}/seen") as answer:
        return json.load(answer)


def differences(one, other):
    names = sorted(set(one) | set(other))
    return [f"{name}: {one.get(name)!r} and {other.get(name)!r}" for name in names if one.get(name) != other.get(name)]


def plain(value):
    """A value without what says nothing: nulls, empty lists, and texts alone as parts."""
    if isinstance(value, dict):
        value = {name: plain(inner) for name, inner in value.items()}
        return {name: inner for name, inner in value.items() if inner not in (None, [], {})}
    if isinstance(value, list):
        return [plain(inner) for inner in value]
    return value


def clean(messages, kind):
    """Messages in one of the forms that mean the same."""
    cleaned = []
    for message in plain(messages):
        message = dict(message)
        content = message.get("content")
        if isinstance(content, str) and message.get("role") == "user":
            message["content"] = [{"type": kind, "text": content}]
        for part in message.get("content") or []:
            if isinstance(part, dict) and isinstance(part.get("content"), str):
                part["content"] = [{"type": kind, "text": part["content"]}]
        # What the clients repeat of answers although requests do not need it.
        for name in ("reasoning_content", "type") if kind == "text" else ():
            message.pop(name, None)
        if kind == "input_text":
            message.setdefault("type", "message")
        cleaned.append(message)
    return cleaned


def stop_of(reason):
    return {"stop": "end", "tool_calls": "tool_calls", "tool_use": "tool_calls", "length": "length"}.get(reason, reason)


def chat(client, messages, model, tools=True):
    arguments = {"tools": [{"type": "function", "function": {"name": "shell", "description": "Runs a command", "parameters": PARAMETERS}}]} if tools else {}
    with client.chat.completions.stream(
        model=model, messages=messages, max_tokens=64, temperature=0,
        stream_options={"include_usage": True}, **arguments,
    ) as stream:
        for _ in stream:
            pass
        whole = stream.get_final_completion()
    choice, usage = whole.choices[0], whole.usage
    details = usage.prompt_tokens_details
    cached = details.cached_tokens if details else None
    thought = usage.completion_tokens_details.reasoning_tokens if usage.completion_tokens_details else None
    return choice.message, {
        "text": choice.message.content or "",
        "calls": [{"id": call.id, "name": call.function.name, "arguments": call.function.arguments} for call in choice.message.tool_calls or []],
        "stop": stop_of(choice.finish_reason),
        "input": usage.prompt_tokens - (cached or 0),
        "cache_read": cached,
        "output": usage.completion_tokens,
        "reasoning": thought,
    }


def responses(client, items, model, tools=True):
    arguments = {"tools": [{"type": "function", "name": "shell", "description": "Runs a command", "parameters": PARAMETERS, "strict": False}]} if tools else {}
    # Not by the client's own helper for streams: it fails with llama.cpp, which does not number the parts of an item.
    with client.responses.create(
        model=model, input=items, instructions=SYSTEM, max_output_tokens=64, temperature=0, store=False,
        include=["reasoning.encrypted_content"], stream=True, **arguments,
    ) as stream:
        whole = [event for event in stream if event.type in ("response.completed", "response.incomplete")][-1].response
    calls = [item for item in whole.output if item.type == "function_call"]
    usage = whole.usage
    cached = usage.input_tokens_details.cached_tokens if usage.input_tokens_details else None
    details = usage.output_tokens_details
    return whole, {
        "text": whole.output_text,
        "calls": [{"id": call.call_id, "name": call.name, "arguments": call.arguments} for call in calls],
        "stop": "tool_calls" if calls else "end" if whole.status == "completed" else "length",
        "input": usage.input_tokens - (cached or 0),
        "cache_read": cached,
        "output": usage.output_tokens,
        "reasoning": details.reasoning_tokens if details else None,
    }


def claude(client, messages):
    tools = [{"name": "shell", "description": "Runs a command", "input_schema": PARAMETERS}]
    with client.messages.stream(
        model="m", system=SYSTEM, messages=messages, max_tokens=64, tools=tools, extra_body={"temperature": 0}
    ) as stream:
        for _ in stream:
            pass
        whole = stream.get_final_message()
    usage = whole.usage
    return whole, {
        "text": "".join(block.text for block in whole.content if block.type == "text"),
        "calls": [{"id": block.id, "name": block.name, "arguments": json.dumps(block.input, separators=(",", ":"))} for block in whole.content if block.type == "tool_use"],
        "stop": stop_of(whole.stop_reason),
        "input": usage.input_tokens,
        "cache_read": usage.cache_read_input_tokens,
        "output": usage.output_tokens,
    }


def flat(answer):
    usage = answer["usage"]
    names = ("input", "cache_read", "output", "reasoning")
    return {**{name: answer[name] for name in ("text", "calls", "stop")}, **{name: usage[name] for name in names}}


def compare(what, theirs, own):
    own = {name: value for name, value in flat(own).items() if name in theirs}
    row(what, differences(theirs, own))


def compare_requests(what, theirs, own, field, kind):
    pairs = zip(theirs, own, strict=True)
    found = []
    for number, (their, our) in enumerate(pairs):
        for name in sorted((set(their) | set(our)) - {field, "system", "include"}):
            if plain(their.get(name)) != plain(our.get(name)):
                found.append(f"{number} {name}: {their.get(name)!r} and {our.get(name)!r}")
        if clean(their[field], kind) != clean(our[field], kind):
            found.append(f"{number} {field}: {json.dumps(clean(their[field], kind))} and {json.dumps(clean(our[field], kind))}")
    row(what, found)


def same_server():
    client = openai.OpenAI(base_url=SERVER, api_key="x", max_retries=0)
    seen()

    messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": PROMPT}]
    said, first = chat(client, messages, "m")
    messages += [said.model_dump(exclude_unset=True, exclude={"parsed": True, "tool_calls": {"__all__": {"index": True, "function": {"parsed_arguments": True}}}})]
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "nothing"} for call in said.tool_calls]
    _, second = chat(client, messages, "m")
    theirs = seen()
    own = ours("openai_chat", SERVER, "m", PROMPT)
    compare("chat, first answer", first, own[0])
    compare("chat, second answer", second, own[1])
    compare_requests("chat, requests of both turns", theirs, seen(), "messages", "text")

    items = [{"role": "user", "content": [{"type": "input_text", "text": PROMPT}]}]
    said, first = responses(client, items, "m")
    items += [item.model_dump(exclude_unset=True, exclude={"parsed_arguments": True, "content": {"__all__": {"parsed"}}} if item.type != "reasoning" else None) for item in said.output]
    items += [{"type": "function_call_output", "call_id": item.call_id, "output": "nothing"} for item in said.output if item.type == "function_call"]
    _, second = responses(client, items, "m")
    theirs = seen()
    own = ours("openai_responses", SERVER, "m", PROMPT)
    compare("responses, first answer", first, own[0])
    compare("responses, second answer", second, own[1])
    compare_requests("responses, requests of both turns", theirs, seen(), "input", "input_text")

    client_a = anthropic.Anthropic(base_url=SERVER, api_key="x", max_retries=0)
    messages = [{"role": "user", "content": PROMPT}]
    said, first = claude(client_a, messages)
    messages += [{"role": "assistant", "content": [block.model_dump(exclude_unset=True) for block in said.content]}]
    results = [{"type": "tool_result", "tool_use_id": block.id, "content": "nothing"} for block in said.content if block.type == "tool_use"]
    messages += [{"role": "user", "content": results}]
    _, second = claude(client_a, messages)
    theirs = seen()
    own = ours("anthropic", SERVER, "m", PROMPT)
    compare("messages, first answer", first, own[0])
    compare("messages, second answer", second, own[1])
    compare_requests("messages, requests of both turns", theirs, seen(), "messages", "text")

    kinds = {
        400: ("BadRequestError", "BadRequest"),
        401: ("AuthenticationError", "Auth"),
        404: ("NotFoundError", "NotFound"),
        429: ("RateLimitError", "RateLimited"),
        500: ("InternalServerError", "Overloaded"),
    }
    for api, ask in (
        ("openai_chat", lambda prompt: chat(client, [{"role": "user", "content": prompt}], "m")),
        ("openai_responses", lambda prompt: responses(client, prompt, "m")),
        ("anthropic", lambda prompt: claude(client_a, [{"role": "user", "content": prompt}])),
    ):
        found = []
        for status, (theirs, own) in kinds.items():
            try:
                ask(f"fail with {status}")
                found.append(f"{status}: no error")
            except (openai.APIStatusError, anthropic.APIStatusError) as error:
                if type(error).__name__ != theirs or error.status_code != status:
                    found.append(f"{status}: {error!r}")
            answer = ours(api, SERVER, "m", f"fail with {status}")[-1]
            if (answer.get("error"), answer.get("status")) != (own, status):
                found.append(f"{status}: {answer}")
        row(f"{api}, errors {', '.join(map(str, kinds))}", found)


def real_server():
    client = openai.OpenAI(base_url=f"{LLAMA}/v1", api_key="x", max_retries=0)
    for prompt in ("What is the capital of France? without tools", "Count from one to five, without tools."):
        messages = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": prompt}]
        for _ in range(2):  # The second time both read the prompt from the cache.
            _, theirs = chat(client, messages, "smollm2", tools=False)
        own = ours("openai_chat", f"{LLAMA}/v1", "smollm2", prompt)[0]
        if not theirs["text"]:
            row("llama.cpp", ["it says nothing"])
        compare(f"llama.cpp, chat: {theirs['text'][:40]!r}", theirs, own)
        for _ in range(2):
            _, theirs = responses(client, [{"role": "user", "content": prompt}], "smollm2", tools=False)
        own = ours("openai_responses", f"{LLAMA}/v1", "smollm2", prompt)[0]
        compare(f"llama.cpp, responses: {theirs['text'][:40]!r}", theirs, own)
    long = "word " * 4000 + "without tools"
    answer = ours("openai_chat", f"{LLAMA}/v1", "smollm2", long)[0]
    row("llama.cpp, a prompt that is too long", [] if answer.get("error") == "ContextTooLong" else [str(answer)])


print("| what | result |")
print("|---|---|")
same_server()
real_server()
sys.exit(failed)

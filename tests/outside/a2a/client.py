"""What the official client does with the server of `crates/a2a/examples/check_server.rs`.

    client.py URL TOKEN JSONRPC|HTTP+JSON stream|poll
"""

import asyncio
import http.server
import json
import sys
import threading
import uuid

import httpx
from a2a.client.client import ClientConfig
from a2a.client.client_factory import ClientFactory
from a2a.types.a2a_pb2 import (
    AuthenticationInfo,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils import errors


def say(text, **about):
    message = Message(message_id=str(uuid.uuid4()), role=Role.ROLE_USER, parts=[Part(text=text)], **about)
    return SendMessageRequest(message=message)


async def sent(client, request):
    """All that is told of a message, and the task at the end."""
    told = [event async for event in client.send_message(request)]
    named = [event for event in told if event.WhichOneof("payload") != "message"]
    if not named:
        return told, None
    first = named[0]
    kind = first.WhichOneof("payload")
    task = first.task.id if kind == "task" else getattr(first, kind).task_id
    return told, await client.get_task(GetTaskRequest(id=task))


async def refused(kind, what):
    try:
        await what
    except kind:
        return
    raise AssertionError(f"no {kind.__name__}")


class Hook(http.server.BaseHTTPRequestHandler):
    got = []

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        Hook.got.append((dict(self.headers), body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


async def main(url, token, binding, way):
    web = httpx.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=30)
    config = ClientConfig(httpx_client=web, supported_protocol_bindings=[binding], streaming=way == "stream")
    client = await ClientFactory(config).create_from_url(url)

    told, task = await sent(client, say("echo hello"))
    assert task.status.state == TaskState.TASK_STATE_COMPLETED, task
    assert task.artifacts[0].parts[0].text == "hello"
    assert task.history[0].parts[0].text == "echo hello"
    if way == "stream":
        assert [event.WhichOneof("payload") for event in told] == ["task", "status_update", "artifact_update", "status_update"]

    told, _ = await sent(client, say("now"))
    assert told[0].message.parts[0].text == "at once"

    told, task = await sent(client, say("chunks"))
    assert "".join(part.text for part in task.artifacts[0].parts) == "abc"
    _, task = await sent(client, say("fail"))
    assert task.status.state == TaskState.TASK_STATE_FAILED
    _, task = await sent(client, say("unknown"))
    assert task.status.state == TaskState.TASK_STATE_REJECTED

    _, asked = await sent(client, say("ask"))
    assert asked.status.state == TaskState.TASK_STATE_INPUT_REQUIRED
    assert asked.status.message.parts[0].text == "which one?"
    _, done = await sent(client, say("answer that", task_id=asked.id, context_id=asked.context_id))
    assert done.id == asked.id and done.status.message.parts[0].text == "it is that"

    hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
    threading.Thread(target=hook.serve_forever, daemon=True).start()
    push = TaskPushNotificationConfig(
        url=f"http://127.0.0.1:{hook.server_port}/hook", token="my-token",
        authentication=AuthenticationInfo(scheme="Bearer", credentials="my-secret"),
    )
    request = say("wait")
    request.configuration.CopyFrom(
        SendMessageConfiguration(return_immediately=True, task_push_notification_config=push)
    )
    waiting = None
    async for event in client.send_message(request):
        waiting = event.task
        break
    pushes = await client.list_task_push_notification_configs(ListTaskPushNotificationConfigsRequest(task_id=waiting.id))
    assert pushes.configs[0].url == push.url
    more = TaskPushNotificationConfig(task_id=waiting.id, id="mine", url=push.url)
    assert (await client.create_task_push_notification_config(more)).id == "mine"
    key = dict(task_id=waiting.id, id="mine")
    assert (await client.get_task_push_notification_config(GetTaskPushNotificationConfigRequest(**key))).url == push.url
    await client.delete_task_push_notification_config(DeleteTaskPushNotificationConfigRequest(**key))
    await refused(errors.TaskNotFoundError, client.get_task_push_notification_config(GetTaskPushNotificationConfigRequest(**key)))

    async def watch():
        return [event async for event in client.subscribe(SubscribeToTaskRequest(id=waiting.id))]

    # Without streaming, the client does not subscribe either.
    watching = asyncio.create_task(watch()) if way == "stream" else None
    await asyncio.sleep(0.3)
    cancelled = await client.cancel_task(CancelTaskRequest(id=waiting.id))
    assert cancelled.status.state == TaskState.TASK_STATE_CANCELED
    if watching:
        seen = await watching
        assert seen[0].task.id == waiting.id
        assert seen[-1].status_update.status.state == TaskState.TASK_STATE_CANCELED
    for _ in range(100):
        if len(Hook.got) >= 2:
            break
        await asyncio.sleep(0.05)
    headers, body = Hook.got[-1]
    assert body["statusUpdate"]["status"]["state"] == "TASK_STATE_CANCELED", body
    headers = {name.lower(): value for name, value in headers.items()}
    assert headers["x-a2a-notification-token"] == "my-token"
    assert headers["authorization"] == "Bearer my-secret"

    await refused(errors.TaskNotFoundError, client.get_task(GetTaskRequest(id="nothing")))
    await refused(errors.TaskNotCancelableError, client.cancel_task(CancelTaskRequest(id=waiting.id)))
    page = await client.list_tasks(ListTasksRequest(page_size=2, include_artifacts=True))
    assert len(page.tasks) == 2 and page.total_size >= 6 and page.next_page_token
    page = await client.list_tasks(ListTasksRequest(status=TaskState.TASK_STATE_REJECTED))
    assert all(task.status.state == TaskState.TASK_STATE_REJECTED for task in page.tasks) and page.tasks
    card = await client.get_extended_agent_card(GetExtendedAgentCardRequest())
    assert card.description == "For those it knows", card
    hook.shutdown()
    await client.close()


asyncio.run(main(*sys.argv[1:]))

"""A server by the official SDK, for `crates/a2a/examples/check_client.rs`. It prints where it listens.

    server.py
"""

import asyncio
import socket

import httpx
import uvicorn
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers.default_request_handler_v2 import DefaultRequestHandlerV2
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks.base_push_notification_sender import BasePushNotificationSender
from a2a.server.tasks.inmemory_push_notification_config_store import InMemoryPushNotificationConfigStore
from a2a.server.tasks.inmemory_task_store import InMemoryTaskStore
from a2a.server.tasks.task_updater import TaskUpdater
from a2a.types.a2a_pb2 import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
)
from starlette.applications import Starlette


class Checked(AgentExecutor):
    async def execute(self, context, event_queue):
        text = context.get_user_input()
        verb, _, rest = text.partition(" ")
        if verb == "now":
            about = dict(message_id="m", role=Role.ROLE_AGENT, context_id=context.context_id)
            await event_queue.enqueue_event(Message(parts=[Part(text="at once")], **about))
            return
        if not context.current_task:
            status = TaskStatus(state=TaskState.TASK_STATE_SUBMITTED)
            task = Task(id=context.task_id, context_id=context.context_id, status=status, history=[context.message])
            await event_queue.enqueue_event(task)
        work = TaskUpdater(event_queue, context.task_id, context.context_id)
        await work.start_work()
        if verb == "echo":
            await work.add_artifact([Part(text=rest)], artifact_id="echo")
        elif verb == "chunks":
            await work.add_artifact([Part(text="a")], artifact_id="c")
            await work.add_artifact([Part(text="b")], artifact_id="c", append=True)
            await work.add_artifact([Part(text="c")], artifact_id="c", append=True, last_chunk=True)
        elif verb == "ask":
            await work.requires_input(work.new_agent_message([Part(text="which one?")]))
            return
        elif verb == "wait":
            await asyncio.sleep(60)
        await work.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    card = AgentCard(
        name="Checked",
        description="An agent for checks",
        version="1.0.0",
        supported_interfaces=[
            AgentInterface(url=f"{url}/rpc", protocol_binding="JSONRPC", protocol_version="1.0"),
            AgentInterface(url=f"{url}/rest", protocol_binding="HTTP+JSON", protocol_version="1.0"),
        ],
        capabilities=AgentCapabilities(streaming=True, push_notifications=True, extended_agent_card=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="check", name="Check", description="Checks", tags=["test"])],
    )
    extended = AgentCard()
    extended.CopyFrom(card)
    extended.description = "For those it knows"
    hooks = InMemoryPushNotificationConfigStore()
    handler = DefaultRequestHandlerV2(
        agent_executor=Checked(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=hooks,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(timeout=1), hooks),
        extended_agent_card=extended,
    )
    routes = [
        *create_agent_card_routes(card),
        *create_jsonrpc_routes(handler, "/rpc"),
        *create_rest_routes(handler, path_prefix="/rest"),
    ]
    print(url, flush=True)
    uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="warning")).run(sockets=[listener])


main()

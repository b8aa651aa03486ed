"""A whole task by the official client.

    task.py MODE stdio PROGRAM FOLDER
    task.py MODE http URL TOKEN_FILE

MODE is `legacy` (a session that `initialize` begins) or `auto` (the newest revision that both know).
"""

import asyncio
import contextlib
import sys

from mcp import Client, StdioServerParameters


def transport(way: str, where: str, what: str, stack: contextlib.AsyncExitStack):
    if way == "stdio":
        return StdioServerParameters(command=where, args=["mcp", "-C", what], env=None)
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    token = open(what).read().strip()
    client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60)
    return streamable_http_client(where, http_client=client)


async def main(mode: str, way: str, where: str, what: str) -> None:
    told = []

    async def progress(_done, _total, message) -> None:
        told.append(message)

    async with contextlib.AsyncExitStack() as stack:
        client = Client(transport(way, where, what, stack), mode=mode)
        await stack.enter_async_context(client)
        tools = await client.list_tools()
        assert "exec" in [tool.name for tool in tools.tools], tools

        async def call(tool: str, /, **arguments):
            # The client checks the answer against the schema of the tool.
            result = await client.call_tool(tool, arguments, progress_callback=progress)
            assert not result.is_error, result
            return result.structured_content

        read = await call("read", path="greeting")
        assert read["result"]["content"] == "helo\n", read
        await call("edit", path="greeting", old_text="helo", new_text="hello")
        ran = await call("exec", command="cat greeting; sleep 0.3; echo done")
        assert ran["result"]["stdout"] == "hello\ndone\n", ran
        assert any("hello" in message for message in told), told
        found = await call("search", pattern="hel+o")
        assert found["matches"][0]["line"] == 1, found
        await call("checkpoint", name="mended")
        await call("write", path="more", content="x")
        await call("list", path="/")
        diff = await call("diff")
        assert "+hello" in diff["result"]["patch"], diff
        await call("undo", to="mended")
        await call("undo")
        await call("status")
        await call("approvals")
        await call("commit", dry_run=True)
        refused = await client.call_tool("read", {"path": "missing"})
        assert refused.is_error, refused
        listed = await client.list_resources()
        for resource in listed.resources[:2]:
            await client.read_resource(str(resource.uri))


asyncio.run(main(*sys.argv[1:]))

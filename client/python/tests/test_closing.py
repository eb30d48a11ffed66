"""Closing a client while calls of it are under way, on threads and event loops."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import Rack, ScriptedStore, content, under_way

import railhead
from railhead._session import Box

MIB = 1 << 20
DATA = content(MIB, 8)
PATIENCE = 30


@pytest.fixture
def cold(own_rack: Rack) -> Iterator[str]:
    """The URL of an object that the gateway does not have, and cannot get; clients are connected before."""
    url = f"s3://data/cold-closing-{time.monotonic_ns()}"
    with own_rack.client(own_rack.store_endpoint, fabric="http") as direct:
        direct.put_from(url, DATA)
    with own_rack.client(fabric="loopback") as client:
        client.put_from("s3://data/closing", DATA)
        assert client.get("s3://data/closing") == DATA, "it is in the cache"
    os.kill(own_rack.store.pid, signal.SIGSTOP)
    yield url
    os.kill(own_rack.store.pid, signal.SIGCONT)


def wait_until_under_way(client: railhead.Client, count: int) -> None:
    while under_way(client) < count:
        time.sleep(0.01)


def started(call: Callable[[], object]) -> tuple[threading.Thread, list[BaseException]]:
    raised: list[BaseException] = []

    def work() -> None:
        try:
            call()
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, raised


@pytest.mark.parametrize("kind", ["direct", "copied"])
def test_read_of_another_thread_is_cancelled(own_rack: Rack, cold: str, kind: str) -> None:
    client = own_rack.client(fabric="loopback")
    buffer = client.buffer(MIB) if kind == "direct" else bytearray(MIB)
    thread, raised = started(lambda: client.get_into(cold, buffer))
    wait_until_under_way(client, 1)
    session = client._paths._session
    assert session is not None
    client.close()
    thread.join(PATIENCE)
    assert isinstance(raised[0], railhead.Cancelled)
    assert not session._pending
    with pytest.raises(ValueError, match="closed"):
        client.get(cold)


def test_call_asks_for_nothing_more(own_rack: Rack, cold: str) -> None:
    client = own_rack.client(fabric="loopback", in_flight=4)
    reads = [(cold, bytearray(MIB)) for _ in range(200)]
    thread, raised = started(lambda: client.get_many(reads, return_exceptions=True))
    wait_until_under_way(client, 4)
    client.close()
    thread.join(PATIENCE)
    assert isinstance(raised[0], ValueError)


def test_gather_leaves_nothing_behind_where_one_fails(own_rack: Rack, cold: str) -> None:
    own = bytearray(MIB)

    async def work() -> None:
        async with own_rack.client(fabric="loopback") as client:
            reads = [client.aget_into(cold, client.buffer(MIB)), client.aget_into(cold, own)]
            waiting = asyncio.gather(*map(asyncio.create_task, reads))
            await asyncio.to_thread(wait_until_under_way, client, 2)
            waiting.add_done_callback(lambda done: done.exception())
            await client.aget("s3://off/object")

    with pytest.raises(railhead.NotServed):
        asyncio.run(asyncio.wait_for(work(), PATIENCE))
    gc.collect()
    own.append(1)  # which it could not while somebody held it


def test_nobody_closes_under_a_call_of_the_same_thread(own_rack: Rack, cold: str) -> None:
    with own_rack.client(fabric="loopback") as client:
        def close(_: int) -> None:
            client.close()

        with pytest.raises(RuntimeError, match="of this thread"):
            client.get_all(["s3://data/closing"], progress=close)

        async def work() -> None:
            task = asyncio.create_task(client.aget(cold))
            await asyncio.to_thread(wait_until_under_way, client, 1)
            with pytest.raises(RuntimeError, match="of this thread"):
                client.close()
            task.cancel()
            await asyncio.wait([task])

        asyncio.run(work())
        assert client.get("s3://data/closing") == DATA, "it is not closed"


def test_call_of_a_loop_that_is_closed_is_not_waited_for(own_rack: Rack, cold: str) -> None:
    client = own_rack.client(fabric="loopback")
    loop = asyncio.new_event_loop()
    task = loop.create_task(client.aget(cold))
    loop.run_until_complete(asyncio.to_thread(wait_until_under_way, client, 1))
    loop.close()
    thread, raised = started(client.close)
    thread.join(PATIENCE)
    assert not thread.is_alive()
    assert not raised
    del task


def test_collector_waits_for_nobody(scripted: ScriptedStore) -> None:
    client = scripted.client()
    client._paths.calls.add(Box())
    closing: Any = client._closing
    del client
    gc.collect()
    assert not closing.alive

"""The asynchronous calls, and what cancelling one leaves."""

import asyncio
import gc
import os
import signal
import threading

import pytest
from conftest import Rack, content, under_way

import railhead

MIB = 1 << 20
DATA = content(5 * MIB + 3, 9)


@pytest.fixture(scope="module")
def stored(running: Rack) -> None:
    with running.client() as client:
        client.put_from("s3://data/async", DATA)


def test_every_call(running: Rack, stored: None) -> None:
    async def work() -> None:
        async with running.client(fabric="loopback") as client:
            buffers = [client.buffer(MIB) if i % 2 else memoryview(bytearray(MIB)) for i in range(40)]
            got = await asyncio.gather(*(client.aget_into("s3://data/async", buffer, start=i)
                                         for i, buffer in enumerate(buffers)))
            assert all(buffer == DATA[i:i + MIB] for i, buffer in enumerate(buffers))
            assert {each.via for each in got} == {"loopback"}
            assert await client.aget("s3://data/async") == DATA
            assert (await client.ahead("s3://data/async")).size == len(DATA)
            assert await client.aget_all(["s3://data/async"] * 3) == [DATA] * 3
            await client.aget_many([("s3://data/async", buffers[0])])
            for nbytes in (100, 17 * MIB):
                await client.aput_from("s3://data/async-put", bytes(nbytes))
                assert await client.aget("s3://data/async-put") == bytes(nbytes)
            await client.adelete("s3://data/async-put")
            with pytest.raises(railhead.NotFound):
                await client.ahead("s3://data/async-put")

    asyncio.run(work())


def test_no_thread_for_what_goes_over_the_channel(running: Rack, stored: None, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running.client(fabric="loopback") as client:
            buffer, unregistered = client.buffer(MIB), bytearray(MIB)
            await client.aget_many([("s3://data/async", buffer), ("s3://data/async", unregistered)])
            with monkeypatch.context() as context:
                context.setattr(asyncio, "to_thread", None)
                await client.aget_many([("s3://data/async", buffer), ("s3://data/async", unregistered)])

    asyncio.run(work())


def test_threads_and_loops_share_a_session(running: Rack, stored: None) -> None:
    with running.client(fabric="loopback") as client:
        failures: list[BaseException] = []

        def by_thread() -> None:
            buffer = client.buffer(MIB)
            for i in range(100):
                client.get_into("s3://data/async", buffer, start=i)
                assert buffer == DATA[i:i + MIB]

        async def in_loop() -> None:
            buffers = [client.buffer(MIB) for _ in range(8)]
            for i in range(30):
                await asyncio.gather(*(client.aget_into("s3://data/async", buffer, start=i) for buffer in buffers))
                assert all(buffer == DATA[i:i + MIB] for buffer in buffers)

        def kept(work: object) -> None:
            try:
                asyncio.run(in_loop()) if work is in_loop else by_thread()
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=kept, args=(work,)) for work in (in_loop, by_thread, in_loop, by_thread)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive(), "a completion did not reach who waits for it"
        assert not failures


def test_cancelled_returns_when_the_window_is_free(own_rack: Rack) -> None:
    async def work(client: railhead.Client) -> None:
        own = bytearray(MIB)
        tasks = [asyncio.create_task(client.aget_into("s3://data/cold-async", buffer)) for buffer in (client.buffer(MIB), own)]
        await asyncio.to_thread(wait_until_under_way, client, 2)
        for task in tasks:
            task.cancel()
        for task in tasks:
            with pytest.raises(asyncio.CancelledError):
                await asyncio.wait_for(task, 30)
        session = client._paths._session
        assert session is not None
        assert not session._pending
        assert not session._watchers
        del task, tasks  # whose errors know of it
        gc.collect()
        own.append(1)  # which it could not while somebody held it

    with own_rack.client(fabric="loopback") as client, own_rack.client(own_rack.store_endpoint, fabric="http") as direct:
        direct.put_from("s3://data/cold-async", DATA)
        assert client.via == "loopback"
        os.kill(own_rack.store.pid, signal.SIGSTOP)
        try:
            asyncio.run(work(client))
        finally:
            os.kill(own_rack.store.pid, signal.SIGCONT)
        assert client.get("s3://data/cold-async") == DATA, "the session goes on"


def test_loop_that_is_closed_breaks_nobody(own_rack: Rack) -> None:
    with own_rack.client(fabric="loopback") as client, own_rack.client(own_rack.store_endpoint, fabric="http") as direct:
        direct.put_from("s3://data/cold-loop", DATA)
        client.put_from("s3://data/async", DATA)
        loop = asyncio.new_event_loop()
        os.kill(own_rack.store.pid, signal.SIGSTOP)
        try:
            task = loop.create_task(client.aget("s3://data/cold-loop", length=100))
            loop.run_until_complete(asyncio.to_thread(wait_until_under_way, client, 1))
            loop.close()
        finally:
            os.kill(own_rack.store.pid, signal.SIGCONT)
        session = client._paths._session
        assert session is not None
        while session._pending:
            assert client.get("s3://data/async") == DATA
        del task


def wait_until_under_way(client: railhead.Client, count: int) -> None:
    while under_way(client) < count:
        threading.Event().wait(0.01)

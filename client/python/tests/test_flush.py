"""At which level a write is acknowledged, and the wait for the store to have what a gateway's disk has."""

from __future__ import annotations

import asyncio
import threading

import pytest
from conftest import COMPLETED, UPLOAD, Request, ScriptedStore

import railhead

LEFT = b"<Error><Code>ServiceUnavailable</Code><Message>Pending objects of this principal: 2.</Message></Error>"


def left(request: Request) -> None:
    request.answer(503, LEFT, X_Railhead_Flush_Through="9c-7")


def test_a_write_says_at_which_level_it_is_acknowledged(scripted: ScriptedStore) -> None:
    with scripted.client() as client:
        assert client.put_from("s3://b/k", b"x").acknowledged == "store"
        scripted.script = lambda request: request.answer(X_Railhead_Acknowledged="disk")
        assert client.put_from("s3://b/k", b"x").acknowledged == "disk"


def test_an_upload_in_parts_is_acknowledged_by_its_end(scripted: ScriptedStore) -> None:
    def upload(request: Request) -> None:
        if request.command == "POST" and request.path.endswith("?uploads"):
            request.answer(body=UPLOAD)
        elif request.command == "POST":
            request.answer(body=COMPLETED, X_Railhead_Acknowledged="disk")
        else:
            request.answer()

    scripted.script = upload
    with scripted.client() as client:
        assert client.put_from("s3://b/k", bytes(17 << 20)).acknowledged == "disk"


def test_it_returns_once_all_is_at_the_store(scripted: ScriptedStore) -> None:
    with scripted.client() as client:
        client.flush("s3://b/run 7/")
        client.flush("s3://b")
        asyncio.run(client.aflush("s3://b/a"))
        with pytest.raises(ValueError, match="BUCKET"):
            client.flush("/b/a")
    assert scripted.asked == ["POST /.railhead/flush?bucket=b&prefix=run%207%2F&wait=5",
                              "POST /.railhead/flush?bucket=b&prefix=&wait=5",
                              "POST /.railhead/flush?bucket=b&prefix=a&wait=5"]


def test_it_asks_again_and_does_not_wait_for_later_writes(scripted: ScriptedStore) -> None:
    scripted.script = lambda request: request.answer() if len(scripted.asked) == 3 else left(request)
    with scripted.client() as client:
        client.flush("s3://b/a")
    first = "POST /.railhead/flush?bucket=b&prefix=a&wait=5"
    assert scripted.asked == [first, f"{first}&through=9c-7", f"{first}&through=9c-7"]


def test_a_gateway_that_restarts_is_asked_again(scripted: ScriptedStore) -> None:
    def restarts(request: Request) -> None:
        if len(scripted.asked) == 1:
            left(request)
        elif len(scripted.asked) == 2:
            request.hang_up()
        else:
            request.answer()

    scripted.script = restarts
    with scripted.client() as client:
        client.flush("s3://b/a")
    assert len(scripted.asked) == 3


def test_it_ends_in_time_with_what_is_left(scripted: ScriptedStore) -> None:
    scripted.script = left
    with scripted.client() as client, pytest.raises(railhead.DeadlineExceeded, match="of this principal: 2") as raised:
        client.flush("s3://b/a", timeout=0)
    assert (raised.value.status, raised.value.code) == (503, "ServiceUnavailable")
    assert scripted.asked == ["POST /.railhead/flush?bucket=b&prefix=a&wait=0"]


def test_a_cancelled_call_asks_no_more(scripted: ScriptedStore) -> None:
    came, goes_on = threading.Event(), threading.Event()

    def breaks(request: Request) -> None:
        if len(scripted.asked) == 1:
            left(request)
        else:
            came.set()
            goes_on.wait(60)
            request.hang_up()

    async def cancelled() -> None:
        with scripted.client() as client:
            flushing = asyncio.ensure_future(client.aflush("s3://b/a", timeout=10))
            await asyncio.to_thread(came.wait, 60)
            flushing.cancel()
            await asyncio.sleep(0)
            goes_on.set()
            with pytest.raises(asyncio.CancelledError):
                await flushing

    scripted.script = breaks
    asyncio.run(cancelled())
    assert len(scripted.asked) == 2


@pytest.mark.parametrize(("status", "code"), [(400, "InvalidBucketName"), (400, ""), (404, "NoSuchBucket"),
                                              (405, "MethodNotAllowed"), (501, "NotImplemented")])
def test_an_endpoint_that_flushes_nothing_is_told_apart(scripted: ScriptedStore, status: int, code: str) -> None:
    scripted.script = lambda request: request.answer(status, f"<Error><Code>{code}</Code></Error>".encode())
    with scripted.client() as client, pytest.raises(railhead.NotServed, match="flushes nothing"):
        client.flush("s3://b/a")


@pytest.mark.parametrize(("status", "code"), [(409, "InvalidRequest"), (400, "InvalidArgument"), (400, "ExpiredToken")])
def test_a_refused_flush_is_an_error_and_is_not_repeated(scripted: ScriptedStore, status: int, code: str) -> None:
    body = f"<Error><Code>{code}</Code><Message>An administrator has discarded b/a/1</Message></Error>".encode()
    scripted.script = lambda request: request.answer(status, body)
    with scripted.client() as client, pytest.raises(railhead.StoreError, match="has discarded b/a/1") as raised:
        client.flush("s3://b/a")
    assert (raised.value.status, raised.value.code) == (status, code)
    assert len(scripted.asked) == 1


def test_what_no_repeat_changes_is_raised(scripted: ScriptedStore) -> None:
    with scripted.client() as client:
        scripted.script = lambda request: request.answer(404, b"<Error><Code>NoSuchBucket</Code><Message>m</Message></Error>")
        with pytest.raises(railhead.NotServed, match="flushes nothing: NoSuchBucket: m"):
            client.flush("s3://b/a")
        scripted.script = lambda request: request.answer(403, b"<Error><Code>AccessDenied</Code></Error>")
        with pytest.raises(railhead.AccessDenied):
            client.flush("s3://b/a")
    with railhead.Client("http://127.0.0.1:1", fabric="http", credentials=railhead.Credentials("a", "b"),
                         region="us-east-1") as client, pytest.raises(railhead.ConnectionLost):
        client.flush("s3://b/a")

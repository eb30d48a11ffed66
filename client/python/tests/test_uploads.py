"""Uploads of which something fails, against a store that is scripted: what is not whole is not stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from conftest import KEYS, Request, ScriptedStore, take_uploads

import railhead
from railhead import _native
from railhead._session import Outcome
from railhead._transfer import error_of

MIB = 1 << 20
BLOCK = bytes(8 * MIB)


@pytest.fixture
def fs(scripted: ScriptedStore) -> Any:
    pytest.importorskip("fsspec")
    from railhead.fsspec import RailheadFileSystem

    scripted.script = take_uploads
    made = RailheadFileSystem(endpoint=scripted.endpoint, fabric="http", credentials=KEYS, region="us-east-1",
                              skip_instance_cache=True)
    yield made
    made.client.close()


def where(what: str, answer: Callable[[Request], None]) -> Callable[[Request], None]:
    """A store that takes all but what has this in it."""
    return lambda request: (answer if what in f"{request.command} {request.path}" else take_uploads)(request)


def refuse(request: Request) -> None:
    request.answer(403)


def test_file_of_which_a_part_failed_is_not_stored(fs: Any, scripted: ScriptedStore) -> None:
    scripted.script = where("partNumber=2", refuse)
    with pytest.raises(railhead.AccessDenied), fs.open("b/x", "wb") as file:
        file.writelines([BLOCK] * 3)
    assert file.closed
    with pytest.raises(railhead.Cancelled):
        file.commit()
    assert len(scripted.came("DELETE /b/x?uploadId=u")) == 1
    assert scripted.came("PUT") == scripted.came("partNumber")
    assert not scripted.came("POST /b/x?uploadId")


def test_one_write_makes_parts_that_a_store_takes(fs: Any, scripted: ScriptedStore) -> None:
    sizes: list[int] = []

    def measure(request: Request) -> None:
        sizes.append(len(request.body))
        take_uploads(request)

    scripted.script = where("partNumber", measure)
    with fs.open("b/x", "wb", block_size=MIB) as file:
        file.write(bytes(100 * MIB + 1))
        file.writelines([bytes(MIB)] * 9)
    assert sum(sizes) == 109 * MIB + 1
    assert len(sizes) == 14
    assert all(8 * MIB <= size < 9 * MIB for size in sizes[:-1])


def test_completion_that_is_refused_is_aborted(fs: Any, scripted: ScriptedStore) -> None:
    scripted.script = where("POST /b/x?uploadId", refuse)
    with pytest.raises(railhead.AccessDenied), fs.open("b/x", "wb") as file:
        file.writelines([BLOCK] * 2)
    with pytest.raises(railhead.AccessDenied):
        fs.client.put_from("s3://b/x", bytes(17 * MIB))
    assert len(scripted.came("DELETE /b/x?uploadId=u")) == 2


def test_completion_whose_answer_is_lost_is_neither_repeated_nor_aborted(fs: Any, scripted: ScriptedStore) -> None:
    scripted.script = where("POST /b/x?uploadId", Request.hang_up)
    with pytest.raises(railhead.OutcomeUnknown):
        fs.client.put_from("s3://b/x", bytes(17 * MIB))
    with pytest.raises(railhead.OutcomeUnknown), fs.open("b/x", "wb") as file:
        file.writelines([BLOCK] * 2)
    with pytest.raises(railhead.OutcomeUnknown), fs.transaction, fs.open("b/x", "wb") as file:
        file.write(BLOCK)
    assert len(scripted.came("POST /b/x?uploadId")) == 3
    assert not scripted.came("DELETE")


def test_completion_that_was_refused_for_now_is_repeated(fs: Any, scripted: ScriptedStore) -> None:
    statuses = [503, 503, 200]

    def slow_down(request: Request) -> None:
        if statuses.pop(0) == 503:
            request.answer(503, body=b"<Error><Code>SlowDown</Code></Error>")
        else:
            take_uploads(request)

    scripted.script = where("POST /b/x?uploadId", slow_down)
    fs.client.put_from("s3://b/x", bytes(17 * MIB))
    assert not statuses
    assert not scripted.came("DELETE")


@pytest.mark.parametrize("status", [500, 503, 504])
def test_completion_that_failed_in_the_middle_may_be_done(fs: Any, scripted: ScriptedStore, status: int) -> None:
    scripted.script = where("POST /b/x?uploadId", lambda request: request.answer(status))
    with pytest.raises(railhead.OutcomeUnknown):
        fs.client.put_from("s3://b/x", bytes(17 * MIB))
    assert len(scripted.came("POST /b/x?uploadId")) == 1
    assert not scripted.came("DELETE")


@pytest.mark.parametrize(("status", "code"), [(500, "InternalError"), (503, ""), (503, "ServiceUnavailable"), (504, "")])
def test_put_that_failed_in_the_middle_may_be_done(fs: Any, scripted: ScriptedStore, status: int, code: str) -> None:
    document = f"<Error><Code>{code}</Code></Error>".encode() if code else b""
    scripted.script = where("PUT /b/x", lambda request: request.answer(status, body=document))
    with pytest.raises(railhead.OutcomeUnknown) as raised:
        fs.client.put_from("s3://b/x", b"bytes")
    assert raised.value.status == status
    assert len(scripted.came("PUT /b/x")) == 1


@pytest.mark.parametrize(("status", "code"), [(503, "SlowDown"), (501, "NotImplemented"), (500, "RDMATransferFenced")])
def test_put_of_which_nothing_was_done_is_an_error_of_the_store(fs: Any, scripted: ScriptedStore, status: int,
                                                                code: str) -> None:
    document = f"<Error><Code>{code}</Code></Error>".encode()
    scripted.script = where("PUT /b/x", lambda request: request.answer(status, body=document))
    with pytest.raises(railhead.StoreError) as raised:
        fs.client.put_from("s3://b/x", b"bytes")
    assert (raised.value.status, raised.value.code) == (status, code)


def test_put_that_the_channel_knows_to_be_unknown_keeps_its_status() -> None:
    error = error_of(Outcome(_native.UNKNOWN, 503, code="ServiceUnavailable", message="not in time"), "s3://b/x")
    assert isinstance(error, railhead.OutcomeUnknown)
    assert (error.status, error.code, str(error)) == (503, "ServiceUnavailable", "s3://b/x: not in time")


@pytest.mark.parametrize("nbytes", [1, 8 * MIB])
def test_transaction_that_fails_leaves_nothing(fs: Any, scripted: ScriptedStore, nbytes: int) -> None:
    file = None

    def write_and_fail() -> None:
        nonlocal file
        with fs.transaction:
            file = fs.open("b/x", "wb")
            file.write(bytes(nbytes))
            raise KeyError

    with pytest.raises(KeyError):
        write_and_fail()
    assert file
    file.close()
    assert scripted.came("PUT") == scripted.came("partNumber")
    assert len(scripted.came("DELETE /b/x?uploadId=u")) == len(scripted.came("?uploads"))
    assert not scripted.came("POST /b/x?uploadId")


def test_transaction(fs: Any, scripted: ScriptedStore) -> None:
    with fs.transaction:
        with fs.open("b/large", "wb") as file:
            file.write(bytes(9 * MIB))
        fs.open("b/open", "wb").write(b"not closed")
        fs.open("b/empty", "wb").close()
        assert not scripted.came("PUT /b/empty")
    assert len(scripted.came("POST /b/large?uploadId")) == 1
    assert len(scripted.came("POST /b/open?uploadId")) == 1
    assert scripted.came("/b/empty") == ["PUT /b/empty"]

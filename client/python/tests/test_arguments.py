"""Mistakes in arguments, which are told before anything is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import KEYS, Rack

import railhead


@pytest.fixture
def nowhere() -> Iterator[railhead.Client]:
    """A client whose gateway nobody needs."""
    with railhead.Client("http://127.0.0.1:1", fabric="http", credentials=KEYS) as client:
        yield client


def test_array_of_objects_is_none_that_a_gateway_writes(nowhere: railhead.Client) -> None:
    pytest.importorskip("numpy")
    for dtype in ("O", [("number", "i4"), ("held", "O")]):
        with pytest.raises(TypeError, match="Python objects"):
            nowhere.empty(3, dtype)


@pytest.mark.parametrize(("start", "length", "kind"), [
    (1 << 63, None, ValueError), ((1 << 64) + 5, None, ValueError), (-1, None, ValueError), (0, -1, ValueError),
    (1.5, None, TypeError), ("1", None, TypeError), (0, 1.5, TypeError), (0, "1", TypeError)])
def test_spans_that_no_object_has(nowhere: railhead.Client, start: Any, length: Any, kind: type[Exception]) -> None:
    calls: list[Callable[[], Any]] = [lambda: nowhere.get("s3://b/k", start=start, length=length),
                                      lambda: nowhere.get_into("s3://b/k", bytearray(9), start=start, length=length)]
    for call in calls:
        with pytest.raises(kind):
            call()


@pytest.mark.parametrize("fabric", ["loopback", "http"])
def test_spans_in_numpys_integers(running: Rack, fabric: str) -> None:
    np = pytest.importorskip("numpy")
    with running.client(fabric=fabric) as client:
        client.put_from("s3://data/digits", b"0123456789")
        buffer = bytearray(9)
        assert client.get_into("s3://data/digits", buffer, start=np.int64(5), length=np.int32(3)).length == 3
        assert client.get("s3://data/digits", start=np.int64(5), length=np.int32(3)) == buffer[:3] == b"567"


@pytest.mark.parametrize("url", [None, 5, b"s3://b/k", ["s3://b/k"]])
def test_what_is_no_url(nowhere: railhead.Client, url: Any) -> None:
    for call in (nowhere.get, nowhere.head, nowhere.delete, lambda url: nowhere.get_into(url, bytearray(1)),
                 lambda url: nowhere.put_from(url, b"x"), lambda url: list(nowhere.list(url))):
        with pytest.raises(TypeError):
            call(url)


@pytest.mark.parametrize("deadline", [0, -1, math.inf, math.nan, 1e300, 1 << 22])
def test_deadlines_that_never_come(deadline: float) -> None:
    with pytest.raises(ValueError, match="deadline"):
        railhead.Client("http://127.0.0.1:1", credentials=KEYS, deadline=deadline)


@pytest.mark.parametrize("in_flight", [-1, 0, 4097, 1 << 70])
def test_how_many_at_a_time(in_flight: int) -> None:
    with pytest.raises(ValueError, match="in_flight"):
        railhead.Client("http://127.0.0.1:1", credentials=KEYS, in_flight=in_flight)


def test_memory_of_no_length(nowhere: railhead.Client) -> None:
    pytest.importorskip("numpy")
    for nbytes in (0, -1, 1 << 63, 1 << 65):
        with pytest.raises(ValueError, match="length"):
            nowhere.buffer(nbytes)
    for shape in (-1, (2, -1), (-1, -1), (1 << 40, 1 << 40)):
        with pytest.raises(ValueError, match="not a"):
            nowhere.empty(shape)


@pytest.mark.parametrize("fabric", ["loopback", "http"])
def test_metadata_that_stores_mangle(running: Rack, fabric: str) -> None:
    with running.client(fabric=fabric) as client:
        for metadata in ({"name": "é"}, {"é": "value"}, {"name": "two\nlines"}):
            with pytest.raises(ValueError, match="ASCII"):
                client.put_from("s3://data/mangled", b"x", metadata=metadata)
        with pytest.raises(ValueError, match="ASCII"):
            client.put_from("s3://data/mangled", b"x", content_type="té/xt")

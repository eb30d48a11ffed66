"""Every call against a gateway in front of a store, over loopback."""

import gc
import multiprocessing
import os
import pickle
import random
import sys
import threading
from typing import Any

import pytest
from conftest import KEYS, Rack, content, descriptors

import railhead

np = pytest.importorskip("numpy")
MIB = 1 << 20


@pytest.fixture(scope="module")
def big(running: Rack) -> bytes:
    """s3://data/big, 20 MiB and a bit."""
    data = content(20 * MIB + 17)
    with running.client(fabric="loopback") as client:
        client.put_from("s3://data/big", data)
    return data


def test_what_is_put_is_got(client: railhead.Client) -> None:
    stored = client.put_from("s3://data/a b+ü%20", b"hello", content_type="a/b", metadata={"who": "me"})
    assert stored.via == "loopback"
    assert client.get("railhead://data/a b+ü%20") == b"hello"
    info = client.head("s3://data/a b+ü%20")
    assert (info.size, info.etag, info.content_type, info.metadata) == (5, stored.etag, "a/b", {"who": "me"})
    assert info.last_modified is not None
    assert info.last_modified.tzinfo is not None


@pytest.mark.parametrize("start", [0, 1, 5 * MIB, 20 * MIB + 16])
@pytest.mark.parametrize("length", [None, 0, 1, 3 * MIB, 30 * MIB])
@pytest.mark.parametrize("kind", ["direct", "copied"])
def test_ranges(client: railhead.Client, big: bytes, start: int, length: int | None, kind: str) -> None:
    buffer = client.buffer(25 * MIB) if kind == "direct" else memoryview(bytearray(25 * MIB))
    got = client.get_into("s3://data/big", buffer, start=start, length=length)
    expected = big[start:] if length is None else big[start:start + length]
    assert (got.length, got.size) == (len(expected), len(big))
    assert buffer[:got.length] == expected
    assert not any(buffer[got.length:got.length + 4096]), "bytes behind what was asked for"
    assert client.get("s3://data/big", start=start, length=length) == expected


@pytest.mark.parametrize("nbytes", [0, 1, MIB, 16 * MIB, 16 * MIB + 1, 30 * MIB])
@pytest.mark.parametrize("kind", ["direct", "copied"])
def test_sizes_of_puts(client: railhead.Client, nbytes: int, kind: str) -> None:
    data = content(nbytes, 3)
    source: Any = data
    if kind == "direct" and nbytes:
        source = client.buffer(nbytes)
        source[:] = data
    stored = client.put_from("s3://data/sized", source)
    assert stored.via == ("loopback" if nbytes else "http")
    with client_over_http(client) as plain:
        assert plain.get("s3://data/sized") == data


def client_over_http(client: railhead.Client) -> railhead.Client:
    return railhead.Client(client.report().endpoint, fabric="http", credentials=KEYS, region="us-east-1")


def test_many(client: railhead.Client, big: bytes) -> None:
    dice = random.Random(1)
    reads, expected = [], []
    for _ in range(200):
        start, length = dice.randrange(len(big)), dice.randrange(1, 2 * MIB)
        reads.append(railhead.Read("s3://data/big", np.zeros(length, np.uint8), start))
        expected.append(big[start:start + length])
    moved: list[int] = []
    got = client.get_many(reads, progress=moved.append)
    for read, each, bytes_there in zip(reads, got, expected, strict=True):
        assert read.buffer[:each.length].tobytes() == bytes_there
    assert sum(moved) == sum(map(len, expected))


def test_first_error_is_raised_or_all_are_told(client: railhead.Client, big: bytes) -> None:
    reads = [("s3://data/big", bytearray(100)), ("s3://data/none", bytearray(100)), ("s3://data/big", bytearray(100))]
    with pytest.raises(railhead.NotFound):
        client.get_many(reads)
    first, second, third = client.get_many(reads, return_exceptions=True)
    assert isinstance(second, railhead.NotFound)
    assert first.length == third.length == 100
    assert reads[0][1] == reads[2][1] == big[:100]


@pytest.mark.parametrize(("key", "why"), [("k" * 9000, "too long"), ("\udc80", "surrogates")], ids=["long", "no UTF-8"])
@pytest.mark.parametrize("kind", ["direct", "copied"])
def test_key_that_no_message_takes_is_its_own_read_s_error(client: railhead.Client, big: bytes, kind: str, key: str,
                                                           why: str) -> None:
    buffers = [client.buffer(100) if kind == "direct" else memoryview(bytearray(100)) for _ in range(3)]
    reads = list(zip(["s3://data/big", f"s3://data/{key}", "s3://data/big"], buffers, strict=True))
    first, second, third = client.get_many(reads, return_exceptions=True)
    assert first.length == third.length == 100
    assert buffers[0] == buffers[2] == big[:100]
    assert why in str(second)
    for _ in range(3):
        with pytest.raises(ValueError, match=why):
            client.get_many(reads)
    assert client._paths._session is not None
    assert not client._paths._session._pending


def test_whole_objects(client: railhead.Client, big: bytes) -> None:
    urls = []
    for i in range(20):
        urls.append(f"s3://data/whole/{i:02}")
        client.put_from(urls[-1], content(i * 40_000, i))
    assert client.get_all([*urls, "s3://data/big"]) == [*(content(i * 40_000, i) for i in range(20)), big]
    assert [info.url for info in client.list("s3://data/whole/")] == urls
    assert [info.size for info in client.list("s3://data/whole/")] == [i * 40_000 for i in range(20)]
    assert [info.url for info in client.list("s3://data/who", recursive=False)] == ["s3://data/whole/"]
    client.delete(urls[0])
    with pytest.raises(railhead.NotFound) as caught:
        client.get(urls[0])
    assert (caught.value.status, caught.value.code, caught.value.url) == (404, "NoSuchKey", urls[0])
    assert caught.value.request_id
    assert caught.value.request_id in str(caught.value)
    assert isinstance(caught.value, FileNotFoundError)


def test_errors_of_the_store(client: railhead.Client) -> None:
    client.put_from("s3://data/five", b"12345")
    with pytest.raises(railhead.RangeNotSatisfiable):
        client.get_into("s3://data/five", bytearray(5), start=6)
    with pytest.raises(railhead.PreconditionFailed):
        client.put_from("s3://data/five", b"other", if_none_match=True)
    assert client.get("s3://data/five") == b"12345"
    with pytest.raises(railhead.NotFound):
        client.head("s3://data/six")
    with pytest.raises(railhead.NotFound):
        client.get_into("s3://data/six", bytearray())


def test_object_without_bytes(client: railhead.Client) -> None:
    client.put_from("s3://data/nothing", b"")
    assert client.get("s3://data/nothing") == b""
    assert client.get_into("s3://data/nothing", bytearray(10)).length == 0


@pytest.mark.parametrize("url", ["data/key", "s3://data", "s3://data/", "http://data/key", "s3:///key", "s3://data/a\0b"])
def test_what_is_no_url(client: railhead.Client, url: str) -> None:
    with pytest.raises(ValueError, match="s3://BUCKET/KEY"):
        client.get(url)


def test_mistakes(client: railhead.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="negative"):
        client.get_into("s3://data/x", bytearray(1), start=-1)
    with pytest.raises(ValueError, match="one line"):
        client.put_from("s3://data/x", b"", metadata={"a": "b\nc"})
    with pytest.raises(ValueError, match="no such fabric"):
        railhead.Client("http://127.0.0.1:1", fabric="tcp")
    with pytest.raises(ValueError, match="16 MiB"):
        railhead.Client("http://127.0.0.1:1", ring=8 * MIB)
    with pytest.raises(ValueError, match="has no scheme"):
        railhead.Client("127.0.0.1:9000")
    for name in ("RAILHEAD_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    with pytest.raises(ValueError, match="RAILHEAD_ENDPOINT"):
        railhead.Client()


def test_settings_of_the_environment(environment: Rack) -> None:
    with railhead.Client() as client:
        assert client.via == "loopback"
        assert client.report().endpoint == environment.endpoint


def test_registered_memory_is_moved_directly_where_the_gateway_may(client: railhead.Client, big: bytes) -> None:
    frame = np.zeros(len(big), np.uint8)
    with client.register(frame):
        assert client.get_into("s3://data/big", frame[100:], start=100).length == len(big) - 100
    assert frame[100:].tobytes() == big[100:]
    assert "cross_memory" in client.report().memory, "this gateway may not, and the report says so"


def test_memory_outlives_its_client(running: Rack, big: bytes) -> None:
    with running.client() as client:
        array = client.empty((2, 3 * MIB), "uint8")
        view = client.buffer(100)
        assert not array.any()
        assert array.shape == (2, 3 * MIB)
        client.get_many([("s3://data/big", array), ("s3://data/big", view)])
    assert array.tobytes() == big[:6 * MIB]
    assert view == big[:100]
    with pytest.raises(ValueError, match="closed"):
        client.get("s3://data/big")


def test_descriptors_and_registrations_go_with_their_owners(running: Rack) -> None:
    with running.client(fabric="loopback") as warm:
        warm.put_from("s3://data/leak", b"x")
    gc.collect()
    before = descriptors()
    for _ in range(3):
        client = running.client(fabric="loopback")
        for _ in range(1100):  # more than a session may have registered
            client.get_into("s3://data/leak", client.buffer(10))
        client.get("s3://data/leak")
        client.close()
    forgotten = running.client(fabric="loopback")
    forgotten.get("s3://data/leak")
    del forgotten
    gc.collect()
    assert descriptors() == before


def test_threads_share_a_client(client: railhead.Client, big: bytes) -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        dice = random.Random(seed)
        own = client.buffer(MIB)
        try:
            for _ in range(60):
                buffer = own if dice.random() < 0.5 else memoryview(bytearray(MIB))
                start, length = dice.randrange(len(big)), dice.randrange(1, MIB)
                got = client.get_into("s3://data/big", buffer, start=start, length=length)
                assert buffer[:got.length] == big[start:start + length]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a completion did not reach who waits for it"
    assert not failures


def test_ring_smaller_than_what_is_under_way(running: Rack, big: bytes) -> None:
    with running.client(fabric="loopback", ring=32 * MIB, in_flight=64) as client:
        buffers = [bytearray(len(big)) for _ in range(4)]
        client.get_many([("s3://data/big", buffer) for buffer in buffers])
        assert all(buffer == big for buffer in buffers)


def test_least_ring_takes_all_that_is_put(running: Rack) -> None:
    data = content(16 * MIB)
    with running.client(fabric="loopback", ring=16 * MIB) as client:
        assert client.put_from("s3://data/small-ring", data).via == "loopback"
        assert client.get("s3://data/small-ring") == data


def test_plain_s3_instead_of_a_gateway(running: Rack, big: bytes) -> None:
    with running.client(running.store_endpoint) as client:
        with pytest.warns(railhead.FallbackWarning, match="loopback: .*HTTP") as warned:
            assert client.get("s3://data/big") == big
        assert warned[0].filename == __file__
        buffer = bytearray(len(big))
        assert client.get_into("s3://data/big", buffer).via == "http"
        assert buffer == big
        assert client.put_from("s3://data/plain", big).via == "http"
        assert client.get("s3://data/plain", start=3, length=7) == big[3:10]
        assert client.via.startswith("http: loopback: ")
        assert client.report().bytes_by_path.keys() == {"http"}
        with pytest.raises(railhead.NotFound):
            client.get("s3://data/none")
        with pytest.raises(railhead.RangeNotSatisfiable):
            client.get("s3://data/plain", start=len(big) + 1)


def test_fabric_by_name_falls_back_on_nothing(running: Rack) -> None:
    with running.client(running.store_endpoint, fabric="loopback") as client, pytest.raises(railhead.Unavailable):
        client.get("s3://data/big")
    with running.client(fabric="verbs") as client, pytest.raises(railhead.Unavailable, match="verbs"):
        client.get("s3://data/big")


def test_what_the_channel_does_not_serve(running: Rack) -> None:
    with running.client(fabric="http") as plain:
        plain.put_from("s3://off/key", b"by HTTP only")
    with running.client() as client:
        with pytest.warns(railhead.FallbackWarning, match="rule"):
            assert client.get("s3://off/key") == b"by HTTP only"
        assert client.get_into("s3://off/key", bytearray(100)).via == "http", "warned once"
        assert client.via == "loopback"
    with running.client(fabric="loopback") as client, pytest.raises(railhead.NotServed) as caught:
        client.get("s3://off/key")
    assert caught.value.code == "rule"
    assert str(caught.value).endswith("not served by this way: rule")


def test_refused_credentials(running: Rack) -> None:
    wrong = railhead.Credentials(KEYS.access_key, "another secret")
    with railhead.Client(running.endpoint, credentials=wrong, region="us-east-1") as client, \
            pytest.warns(railhead.FallbackWarning, match="403"), pytest.raises(railhead.AccessDenied) as caught:
        client.get("s3://data/big")
    assert caught.value.code == "SignatureDoesNotMatch"
    assert caught.value.request_id
    with railhead.Client(running.endpoint, credentials=wrong, region="us-east-1", fabric="loopback") as client, \
            pytest.raises(railhead.AccessDenied, match="SignatureDoesNotMatch") as caught:
        client.get("s3://data/big")
    assert caught.value.status == 403


def test_fallback_warning_as_an_error_leaves_nothing_under_way(running: Rack) -> None:
    with running.client(running.store_endpoint) as client:
        for _ in range(2):
            with pytest.raises(railhead.FallbackWarning):
                client.get("s3://data/big")
    with running.client() as client:
        with pytest.raises(railhead.FallbackWarning):
            client.get_many([("s3://off/key", bytearray(10)), ("s3://data/big", bytearray(MIB))])
        assert client._paths._session is not None
        assert not client._paths._session._pending


def test_pickled_client(client: railhead.Client, big: bytes) -> None:
    with pickle.loads(pickle.dumps(client)) as other:
        assert other.get("s3://data/big", length=10) == big[:10]
    error = pickle.loads(pickle.dumps(railhead.NotFound("no", status=404, code="NoSuchKey", url="s3://a/b")))
    assert (str(error), error.status, error.code, error.url) == ("s3://a/b: no", 404, "NoSuchKey", "s3://a/b")


def _child(client: railhead.Client, answers: Any) -> None:
    answers.put((client.get("s3://data/big", length=10), client.via))
    client.close()


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python warns of fork where there are threads")
def test_child_of_fork_has_a_session_of_its_own(client: railhead.Client, big: bytes) -> None:
    assert client.get("s3://data/big", length=10) == big[:10]
    context = multiprocessing.get_context("fork")
    answers: Any = context.Queue()
    child = context.Process(target=_child, args=(client, answers))
    child.start()
    assert answers.get(timeout=30) == (big[:10], "loopback")
    child.join(30)
    assert child.exitcode == 0
    assert client.get("s3://data/big", length=10) == big[:10], "the parent's stands"

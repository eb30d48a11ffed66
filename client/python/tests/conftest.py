"""A store and a gateway in front of it, as processes on loopback; what needs them is skipped where they cannot be started."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import railhead

ROOT = Path(os.environ.get("RAILHEAD_CHECKOUT", Path(__file__).resolve().parents[3]))
sys.path.insert(0, str(ROOT / "deploy/lib"))
import rack  # noqa: E402

KEYS = railhead.Credentials("RAILHEADPYTHON000001", "secret-key-of-the-python-package")
RULES = [{"bucket": "off", "rdma": False}, {"freshness": "immutable"}]


def content(nbytes: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(nbytes)


def pause(process: subprocess.Popen[bytes]) -> None:
    """Returns once it is stopped: after the signal alone it may answer some more."""
    os.kill(process.pid, signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)


@dataclass
class Rack:
    """`gateway` and `store` are processes, `endpoint` and `store_endpoint` where they listen."""

    processes: Any
    folder: Path
    store_endpoint: str
    endpoint: str
    health: str
    store: Any = field(init=False)
    gateway: Any = field(init=False)

    def __post_init__(self) -> None:
        self.store, self.gateway = self.processes._running

    def client(self, endpoint: str = "", **options: Any) -> railhead.Client:
        return railhead.Client(endpoint or self.endpoint, credentials=KEYS, region="us-east-1", **options)

    def start_gateway_again(self) -> None:
        self.processes.stop(self.gateway)
        self.gateway = self.processes.start("gateway",
                                            [rack.HOME / "railhead", "serve", "--config", self.folder / "railhead.yaml"])
        self.processes.await_answer(self.gateway, f"{self.health}/readyz", lambda status: status == 200)


def start(folder: Path, processes: Any, gateway: dict[str, Any] | None = None, rules: Sequence[Any] = RULES,
          **rdma: Any) -> Rack:
    keys = (KEYS.access_key, KEYS.secret_key)
    store = (rack.start_minio if rack.find_minio() else rack.start_s3proxy)(processes, keys)
    loopback = {"socket": str(folder / "loopback.sock"), "cross_memory": False, **rdma}
    endpoint, health = rack.start_gateway(processes, store, {"python": keys}, rules=list(rules), cache={"memory": "256MiB"},
                                          rdma={"loopback": loopback}, gateway=gateway or {})
    made = Rack(processes, folder, store, endpoint, health)
    with made.client(fabric="http") as client:
        for bucket in ("data", "off"):
            client.call("", "create_bucket", Bucket=bucket)
    return made


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """One for all tests that leave it as it was."""
    yield from _running(tmp_path_factory.mktemp("rack"))


@pytest.fixture(scope="session")
def second(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    yield from _running(tmp_path_factory.mktemp("second"))


@pytest.fixture
def own_rack(second: Rack) -> Iterator[Rack]:
    """For a test that stops or kills what is in it. Its cache knows what other tests read."""
    yield second
    if second.gateway.poll() is not None:
        second.start_gateway_again()


def _running(folder: Path) -> Iterator[Rack]:
    if os.environ.get("RAILHEAD_NO_GATEWAY"):
        pytest.skip("no gateway: ./railhead is not built")
    try:
        with rack.Processes(folder) as processes:
            yield start(folder, processes)
    except rack.CannotStart as reason:
        pytest.skip(f"no gateway: {reason}")


@pytest.fixture(scope="module")
def kv_rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    """A gateway with a rule for blocks, which takes a policy file."""
    if os.environ.get("RAILHEAD_NO_GATEWAY"):
        pytest.skip("no gateway: ./railhead is not built")
    folder = tmp_path_factory.mktemp("kv")
    allow = {"Effect": "Allow", "Principal": "python", "Action": "s3:*", "Resource": "*"}
    (folder / "policy.json").write_text(json.dumps({"Version": "2012-10-17", "Statement": [allow]}))
    try:
        with rack.Processes(folder) as processes:
            yield start(folder, processes, gateway={"policy": "policy.json"},
                        rules=[{"bucket": "kv-*", "durability": "none", "ttl": "1h"}, *RULES], cross_memory=True)
    except rack.CannotStart as reason:
        pytest.skip(f"no gateway: {reason}")


@pytest.fixture
def client(running: Rack) -> Iterator[railhead.Client]:
    with running.client(fabric="loopback") as made:
        yield made


@pytest.fixture
def environment(running: Rack, monkeypatch: pytest.MonkeyPatch) -> Rack:
    """The gateway is the environment's, as it is for programs."""
    for name, value in environment_of(running).items():
        monkeypatch.setenv(name, value)
    return running


def environment_of(running: Rack) -> dict[str, str]:
    return {"RAILHEAD_ENDPOINT": running.endpoint, "AWS_ACCESS_KEY_ID": KEYS.access_key,
            "AWS_SECRET_ACCESS_KEY": KEYS.secret_key, "AWS_REGION": "us-east-1", "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "AWS_CONFIG_FILE": os.devnull}


class Request(BaseHTTPRequestHandler):
    """One that came to a scripted store."""

    protocol_version = "HTTP/1.1"
    server: ScriptedStore

    def _do(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append(f"{self.command} {self.path}")
        self.server.script(self)

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _do  # noqa: N815

    def answer(self, status: int = 200, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": str(len(body)), "ETag": '"e"', **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def hang_up(self) -> None:
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


class ScriptedStore(ThreadingHTTPServer):
    """Answers each request as `script` does; `asked` is what came, in order."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Request)
        self.script: Callable[[Request], None] = Request.answer
        self.asked: list[str] = []

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def client(self, *, fabric: str = "http", **options: Any) -> railhead.Client:
        return railhead.Client(self.endpoint, fabric=fabric, credentials=KEYS, region="us-east-1", **options)

    def came(self, what: str) -> list[str]:
        return [each for each in self.asked if what in each]


@pytest.fixture
def scripted() -> Iterator[ScriptedStore]:
    with ScriptedStore() as store:
        thread = threading.Thread(target=store.serve_forever)
        thread.start()
        yield store
        store.shutdown()
        thread.join()


UPLOAD = b"<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
COMPLETED = b"<CompleteMultipartUploadResult><ETag>&quot;e-1&quot;</ETag></CompleteMultipartUploadResult>"


def take_uploads(request: Request) -> None:
    """As a store does that takes all."""
    if request.command == "POST":
        request.answer(body=UPLOAD if request.path.endswith("?uploads") else COMPLETED)
    else:
        request.answer(204 if request.command == "DELETE" else 200)


def under_way(client: railhead.Client) -> int:
    """Requests in the client's session."""
    session = client._paths._session
    return sum(len(batch.left) for batch in session._pending.copy().values()) if session is not None else 0


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


needs_cc = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")

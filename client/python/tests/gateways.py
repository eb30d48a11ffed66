"""Several gateways as one cache, as processes on loopback, each with a folder and addresses of its own."""

from __future__ import annotations

import json
import os
import signal
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import conftest  # noqa: F401  # which makes rack known
import rack
from conftest import KEYS

import railhead

RUN = 8 << 20
PATIENCE = 60


@dataclass
class Gateway:
    """`endpoint` and `health` are where the process `processes` has listens."""

    processes: Any
    endpoint: str
    health: str

    def read(self, name: str = 'fabric_bytes_total{fabric="loopback",direction="write"') -> float:
        """A metric's value; without a name the bytes that were moved to clients."""
        with urllib.request.urlopen(f"{self.health}/metrics", timeout=5) as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"railhead_{name}"))

    def process_or_none(self) -> Any:
        """None where it was killed."""
        return next((each for each in self.processes._running if each.poll() is None), None)

    @property
    def process(self) -> Any:
        return self.processes["gateway"]

    def kill(self) -> None:
        process = self.process
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(PATIENCE)
        self.processes.stop(process)

    def start_again(self) -> None:
        process = self.processes.start("gateway", [rack.HOME / "railhead", "serve", "--config",
                                                   self.processes.folder / "railhead.yaml"])
        self.processes.await_answer(process, f"{self.health}/readyz", lambda status: status == 200)


@dataclass
class Gateways:
    store: str
    each: list[Gateway]

    def client(self, at: int = 0, **options: Any) -> railhead.Client:
        return railhead.Client(self.each[at].endpoint, credentials=KEYS, region="us-east-1", fabric="loopback", **options)

    def owner(self, key: str, index: int, bucket: str = "data") -> int:
        return owner_of(bucket, key, index, len(self.each))

    def moved(self) -> list[float]:
        return [gateway.read() for gateway in self.each]

    def await_all(self) -> None:
        until(lambda: all(len(_members(gateway)) == len(self.each) for gateway in self.each))


def until(is_so: Callable[[], object], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "it does not come to be"
        time.sleep(0.05)


@contextmanager
def running(folder: Path, count: int = 3) -> Iterator[Gateways]:
    keys = (KEYS.access_key, KEYS.secret_key)
    with ExitStack() as stack:
        (folder / "store").mkdir()
        store_processes = stack.enter_context(rack.Processes(folder / "store"))
        store = (rack.start_minio if rack.find_minio() else rack.start_s3proxy)(store_processes, keys)
        members = [f"127.0.0.1:{rack.free_port()}" for _ in range(count)]
        made = Gateways(store, [])
        for at, listen in enumerate(members):
            home = folder / f"g{at}"
            home.mkdir()
            allow = {"Effect": "Allow", "Principal": "*", "Action": "s3:*", "Resource": "*"}
            (home / "policy.json").write_text(json.dumps({"Version": "2012-10-17", "Statement": [allow]}))
            processes = stack.enter_context(rack.Processes(home))
            endpoint, health = rack.start_gateway(
                processes, store, {"python": keys}, gateway={"name": f"g{at}", "policy": "policy.json"},
                cluster={"name": "test", "listen": listen, "members": members, "fills": f"127.0.0.1:{rack.free_port()}"},
                cache={"memory": "128MiB", "run": "8MiB"},
                rules=[{"bucket": "kv", "durability": "none", "ttl": "1h"}, {"freshness": {"bounded": "1h"},
                                                                            "authorization": {"remember": "1h"}}],
                rdma={"loopback": {"socket": str(home / "loopback.sock"), "cross_memory": False}})
            made.each.append(Gateway(processes, endpoint, health))
        made.await_all()
        with made.client() as client:
            client.call("", "create_bucket", Bucket="data")
        yield made


def _members(gateway: Gateway) -> dict[str, str]:
    from railhead._owners import _ask
    from railhead._settings import settle

    settings = settle(gateway.endpoint, "http", "us-east-1", None, KEYS, None, 10.0, 1, 16 << 20)
    found: dict[str, str] = _ask(settings).get("placement", {}).get("members", {})
    return found


def owner_of(bucket: str, key: str, index: int, count: int) -> int:
    """Which of g0, g1, ... owns the run, by the rule as docs/http-api.md has it."""
    run = _run(bucket, key, index)
    return max(range(count), key=lambda at: _score(_text(_SEED, f"g{at}"), run))


_SEED, _ALL = 0x9E3779B97F4A7C15, (1 << 64) - 1


def _mix(bits: int) -> int:
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & _ALL
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & _ALL
    return bits ^ bits >> 31


def _text(hashed: int, text: str) -> int:
    units = memoryview(text.encode("utf-16-le")).cast("H")
    for unit in units:
        hashed = (hashed ^ unit) * 0x100000001B3 & _ALL
    return _mix(hashed + len(units) & _ALL)


def _run(bucket: str, key: str, index: int) -> int:
    return _mix(_text(_text(_SEED, bucket), key) ^ _mix(index + _SEED & _ALL))


def _score(member: int, run: int) -> int:
    rotated = (member << 32 | member >> 32) & _ALL
    return _mix(member + _mix(run ^ rotated) & _ALL)


@contextmanager
def acknowledging(folder: Path, store: str, bucket: str) -> Iterator[Gateway]:
    """A gateway that acknowledges writes of the bucket at its disk; rack.CannotStart where the folder takes no log."""
    keys = {"access_key": KEYS.access_key, "secret_key": KEYS.secret_key}
    allow = {"Effect": "Allow", "Principal": "writer", "Action": "s3:*", "Resource": "*"}
    (folder / "policy.json").write_text(json.dumps({"Version": "2012-10-17", "Statement": [allow]}))
    with rack.Processes(folder) as processes:
        endpoint, health = rack.start_gateway(
            processes, store, {}, [{"name": "writer", "rdma_put": True, "keys": [keys],
                                    "backend_credential": {"access_key": "STORE", "secret_key": "secret-key-of-the-store"}}],
            gateway={"policy": "policy.json", "sole": True}, cache={"memory": "128MiB"},
            write_back={"path": str(folder / "log"), "size": "256MiB", "wait": "1s"},
            rules=[{"bucket": bucket, "acknowledge": "disk", "copies": 1}])
        yield Gateway(processes, endpoint, health)

"""What both benchmarks start: a store, a gateway before it, and objects whose bytes are known."""

import argparse
import json
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import rack
from rack import HOME, LOOPBACK
from s3 import S3

KEYS = "BENCHACCESSKEY", "bench-secret-key"
BUCKET = "bench"
MIB = 1 << 20
MEMORY = Path("/dev/shm")
MEMORY_BYTES = 3 << 30


def say(line):
    print(line, file=sys.stderr, flush=True)


def temporary_folder():
    """In memory, where there is room: caches of files are measured in memory, not on a disk. All the others do not care."""
    roomy = os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > MEMORY_BYTES
    return tempfile.TemporaryDirectory(prefix="railhead-bench", dir=MEMORY if roomy else None)


def common_options(parser, name):
    parser.add_argument("--rounds", type=positive, default=5, help="in each of which every system has a turn (%(default)s)")
    parser.add_argument("--warm", type=int, default=2, help="seconds of warming up between two looks at its cost (%(default)s)")
    parser.add_argument("--pin", action=argparse.BooleanOptionalAction, default=True,
                        help="servers on one half of the cores, the client on the other")
    parser.add_argument("--out", type=Path, default=HOME / "target" / name, help=f"for {name}.json and {name}.md (target/{name})")
    parser.add_argument("--jfr", action="store_true", help="record the gateway into gateway.jfr")


def positive(text):
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def command():
    return shlex.join(["benchmarks/run", *sys.argv[1:]])


def content(folder, size):
    """A file of random bytes with the number of each MiB at its start."""
    file = folder / f"content-{size}"
    if not file.exists():
        block = os.urandom(MIB)
        with open(file, "wb") as out:
            for at in range(0, size, MIB):
                out.write((at.to_bytes(8, "little") + block[8:])[:size - at])
    return file


def start_store(processes, stored):
    """Its endpoint. An upload's parts and the object exist twice for a moment."""
    return rack.start_s3proxy(processes, KEYS, 512 + 3 * stored // MIB)


def start_gateway(processes, cores, name, config, recording=None, roles=()):
    """Starts it, and returns its host once it is ready."""
    process, host, health = exec_gateway(processes, cores.on_server([HOME / "railhead"]), name, config, recording, roles)
    processes.await_answer(process, f"http://{health}/readyz", lambda status: status == 200)
    return host


def exec_gateway(processes, launcher, name, config, recording=None, roles=()):
    """Begins to start it: the process, its host and its health port's."""
    host, health = (f"{LOOPBACK}:{rack.free_port()}" for _ in range(2))
    folder = processes.folder
    (folder / "credentials.yaml").write_text(json.dumps({"roles": list(roles), "principals": [{
        "name": "bench", "rdma_get": True, "rdma_put": True, "admin": True,
        "keys": [{"access_key": KEYS[0], "secret_key": KEYS[1]}]}]}))
    gateway = {"listen": host, "health": health, "credentials": "credentials.yaml", **config.get("gateway", {})}
    whole = {"admin": {"enabled": False}, **config, "gateway": gateway}
    # JSON is YAML too.
    (folder / f"{name}.yaml").write_text(json.dumps(whole, indent=2))
    options = {"RAILHEAD_JAVA_OPTIONS": f"-XX:StartFlightRecording:settings=profile,filename={recording}"} if recording else {}
    process = processes.start(name, [*launcher, "serve", "--config", folder / f"{name}.yaml"], **options)
    return process, host, health


def require(client, status, method, path, body=b"", query="", headers=()):
    """The body of an answer whose status must be that."""
    got, answer = client.request(method, path, body, query, headers)
    if got != status:
        raise rack.CannotStart(f"{method} {path}: {got} {answer[:500]!r}")
    return answer


def signer(host, keys=KEYS):
    return S3(f"http://{host}", keys, attempts=1)


def warm_up(turn, seconds, compiles_itself):
    """Repeats turns until the server's cost for each byte no longer falls from one span to the next, eight spans at most."""
    cheapest = float("inf")
    for _ in range(8 if compiles_itself else 1):
        spent = moved = taken = 0
        while not moved or taken < seconds:
            result = turn()
            spent, moved, taken = spent + result.server_cpu, moved + result.bytes, taken + result.seconds
        if spent / moved >= 0.9 * cheapest:
            return
        cheapest = spent / moved


def write_report(out, name, text, record):
    out.mkdir(parents=True, exist_ok=True)
    (out / f"{name}.md").write_text(text)
    (out / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
    print(text)
    say(f"written to {out}")

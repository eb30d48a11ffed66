"""A store and a gateway in front of it, as processes of their own on loopback, for scripts that try them."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

HOME = Path(__file__).resolve().parents[2]
LOOPBACK = "127.0.0.1"
REGION = "us-east-1"
START_SECONDS = 120


class CannotStart(Exception):
    """Something that a script needs is not here, or did not come up; the message says what."""


_given_ports = set()


def free_port():
    """A port that is free now, another one at each call: the system may give a closed port again."""
    while True:
        with socket.socket() as listener:
            listener.bind((LOOPBACK, 0))
            port = listener.getsockname()[1]
        if port not in _given_ports:
            _given_ports.add(port)
            return port


class Processes:
    """Ends what it started, last first, and only that. With a killed script its children end too (where setpriv is)."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self._running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        while self._running:
            self.stop(self._running[-1])

    def start(self, name, command, **environment):
        log = self.folder / f"{name}.log"
        guard = ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        with open(log, "ab") as output:
            process = subprocess.Popen(
                [*guard, *map(str, command)], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
                env={**os.environ, **environment}, start_new_session=True)
        process.name, process.log = name, log
        self._running.append(process)
        return process

    def __getitem__(self, name):
        """The latest that was started under a name and runs."""
        return next(process for process in reversed(self._running) if process.name == name)

    def stop(self, process):
        """Also of one that has ended, or was stopped before."""
        if process in self._running:
            self._running.remove(process)
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def await_answer(self, process, url, accept=lambda status: True, seconds=START_SECONDS):
        """Returns once something that `accept` takes was answered there."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise CannotStart(f"{process.args[-1]} ended with {process.returncode}:\n{tail(process.log)}")
            status = http_status(url)
            if status is not None and accept(status):
                return
            time.sleep(0.2)
        raise CannotStart(f"no answer from {url} in {seconds} s:\n{tail(process.log)}")


def http_status(url):
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def tail(log, lines=15):
    text = Path(log).read_text(errors="replace").splitlines()
    return "\n".join(text[-lines:])


def java():
    """The launcher's own choice of a JDK 25, so that store and gateway run on the same."""
    for home in filter(None, [os.environ.get("RAILHEAD_JAVA_HOME"), os.environ.get("JAVA_HOME"),
                              *sorted(map(str, Path("/usr/lib/jvm").glob("*25*")))]):
        release = Path(home, "release")
        if release.is_file() and 'JAVA_VERSION="25' in release.read_text():
            return Path(home, "bin", "java")
    raise CannotStart("no JDK 25 found; set JAVA_HOME to one")


def build():
    """Builds what is missing or outdated; says nothing if all is there."""
    done = subprocess.run([HOME / "railhead", "--version"], capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotStart(f"./railhead cannot be built or run:\n{done.stdout}{done.stderr}")


def start_s3proxy(processes, keys, heap_mib=3072, host=LOOPBACK, inside=()):
    """s3proxy has one identity and keeps everything in memory. `inside` is a command's head, as `ip netns exec NAME` is."""
    jar = next((jar for jar in [HOME / "cli/target/s3proxy/s3proxy.jar", HOME / "gateway/target/s3proxy/s3proxy.jar"]
                if jar.is_file()), None)
    if jar is None:
        raise CannotStart("no s3proxy.jar: build with mvn -DskipTests package")
    endpoint = f"http://{host}:{free_port()}"
    properties = processes.folder / "s3proxy.conf"
    properties.write_text("\n".join([
        f"s3proxy.endpoint={endpoint}", "s3proxy.authorization=aws-v2-or-v4", f"s3proxy.identity={keys[0]}",
        f"s3proxy.credential={keys[1]}", "s3proxy.ignore-unknown-headers=true", "jclouds.provider=transient-nio2",
        "jclouds.identity=store", "jclouds.credential=store"]) + "\n")
    process = processes.start("store", [*inside, java(), f"-Xmx{heap_mib}m", "-jar", jar, "--properties", properties])
    processes.await_answer(process, endpoint)
    return endpoint


def find_minio():
    return os.environ.get("MINIO_BIN") or shutil.which("minio")


def start_minio(processes, keys, host=LOOPBACK, inside=()):
    program = find_minio()
    if not program:
        raise CannotStart("no minio: name the program in MINIO_BIN")
    endpoint = f"http://{host}:{free_port()}"
    data = processes.folder / "minio"
    data.mkdir(exist_ok=True)
    process = processes.start(
        "store", [*inside, program, "server", "--quiet", "--address", endpoint.removeprefix("http://"), "--console-address",
                  f"{host}:{free_port()}", data],
        MINIO_ROOT_USER=keys[0], MINIO_ROOT_PASSWORD=keys[1], MINIO_UPDATE="off", MINIO_CI_CD="on")
    processes.await_answer(process, endpoint + "/minio/health/ready", lambda status: status == 200)
    return endpoint


def start_gateway(processes, store, key_pairs, principals=(), **sections):
    """
    Returns the S3 endpoint and the health endpoint. `principals` are further ones, as credentials.yaml has them. What is in
    `sections` is added to the configuration.
    """
    listen, health = f"{LOOPBACK}:{free_port()}", f"{LOOPBACK}:{free_port()}"
    config = {
        "gateway": {"listen": listen, "health": health, "credentials": "credentials.yaml"},
        "admin": {"enabled": False},
        "cache": {"memory": "512MiB"},
        "backends": {"store": {"endpoints": [store], "region": REGION}},
        "rdma": {"loopback": {"socket": str(processes.folder / "loopback.sock"), "cross_memory": True}},
    }
    for name, section in sections.items():
        config[name] = {**config.get(name, {}), **section} if isinstance(section, dict) else section
    principals = [*({"name": name, "rdma_put": True, "keys": [{"access_key": access, "secret_key": secret}]}
                    for name, (access, secret) in key_pairs.items()), *principals]
    # JSON is YAML too.
    (processes.folder / "railhead.yaml").write_text(json.dumps(config, indent=2))
    (processes.folder / "credentials.yaml").write_text(json.dumps({"principals": principals}, indent=2))
    process = processes.start("gateway", [HOME / "railhead", "serve", "--config", processes.folder / "railhead.yaml"])
    processes.await_answer(process, f"http://{health}/readyz", lambda status: status == 200)
    return f"http://{listen}", f"http://{health}"


STORES = {"s3proxy": start_s3proxy, "minio": start_minio}


@contextlib.contextmanager
def ended_by_signals():
    """Lets SIGTERM unwind the script as an interrupt does, so that what it started ends."""
    def leave(number, _frame):
        raise SystemExit(128 + number)
    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)

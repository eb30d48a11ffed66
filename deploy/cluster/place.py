"""Gateways of one cluster, their store and the links among them: each a process in a network namespace of its own.

All of it lives in the mount, network and PID namespaces that deploy/cluster/run makes, and is gone with them.
"""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import rack  # noqa: E402
from s3 import S3  # noqa: E402

KEYS = "cluster-rig", "cluster-rig-secret"
LOADED_BUCKETS = {"strong": "strong", "bounded": {"bounded": "30s"}, "immutable": "immutable"}
# `kept` is only read, so its figures are those of what the gateways keep.
BUCKETS = {**LOADED_BUCKETS, "kept": "immutable"}
NET = "10.88.0"
S3_PORT, HEALTH_PORT, CLUSTER_PORT, FILLS_PORT = 9000, 9901, 7800, 7801
RUN_BYTES = 8 << 20
LEASE_SECONDS = 2
SECONDS_TO_MEET = 90
SECONDS_TO_START = 300


def sh(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    if done.returncode:
        raise rack.CannotStart(f"{shlex.join(map(str, command))}: {done.stdout}{done.stderr}")


def wait_for(condition, what, seconds=SECONDS_TO_MEET):
    """Seconds until the condition held; it is asked twenty times a second."""
    begun = time.monotonic()
    while not condition():
        if time.monotonic() - begun > seconds:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.05)
    return time.monotonic() - begun


class Authorities:
    """Two authorities, and a certificate of each for members: `members` is the cluster's, `strangers` is not."""

    def __init__(self, folder):
        self.folder = folder
        for name in "members", "strangers":
            ca, key = folder / f"{name}-ca.pem", folder / f"{name}-ca.key"
            new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
            sh("openssl", "req", "-x509", *new_key, "-keyout", key, "-out", ca, "-days", "2", "-subj", f"/CN={name}")
            request = folder / f"{name}.csr"
            sh("openssl", "req", *new_key, "-keyout", folder / f"{name}.key", "-out", request, "-subj", f"/CN=a-{name}")
            sh("openssl", "x509", "-req", "-in", request, "-CA", ca, "-CAkey", key, "-CAcreateserial", "-days", "2",
               "-out", folder / f"{name}.pem")

    def tls(self, name):
        return {"certificate": str(self.folder / f"{name}.pem"), "key": str(self.folder / f"{name}.key"),
                "client_ca": str(self.folder / "members-ca.pem")}


class Host:
    """A network namespace with one address on the bridge."""

    def __init__(self, name, number):
        self.name, self.address = name, f"{NET}.{number}"
        self.inside = ["ip", "netns", "exec", name]
        link = f"to-{name}"
        sh("ip", "netns", "add", name)
        sh("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
        sh("ip", "link", "set", link, "master", "rack", "up")
        self.sh("ip", "addr", "add", f"{self.address}/24", "dev", "eth0")
        self.sh("ip", "link", "set", "eth0", "up")
        self.sh("ip", "link", "set", "lo", "up")

    def sh(self, *command):
        sh(*self.inside, *command)

    def hear_nothing_of(self, *others):
        for other in others:
            self.sh("iptables", "-A", "INPUT", "-s", other.address, "-j", "DROP")

    def say_nothing_to(self, *others):
        for other in others:
            self.sh("iptables", "-A", "OUTPUT", "-d", other.address, "-j", "DROP")

    def heal(self):
        self.sh("iptables", "-F")

    def slow_down(self, rate):
        self.sh("tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "64k", "latency", "200ms")

    def speed_up(self):
        self.sh("tc", "qdisc", "del", "dev", "eth0", "root")


class Gateway:
    """A member: its host, its process, and its figures. Started and ended any number of times."""

    def __init__(self, place, host, authority="members"):
        self.place, self.host, self.name = place, host, host.name
        self.endpoint = f"http://{host.address}:{S3_PORT}"
        self._health = f"http://{host.address}:{HEALTH_PORT}"
        self._authority = authority
        self.process = None

    def start(self):
        folder = self.place.processes.folder / self.name
        folder.mkdir(exist_ok=True)
        (folder / "railhead.yaml").write_text(json.dumps(self._configuration(), indent=2))
        principal = {"name": "app", "keys": [{"access_key": KEYS[0], "secret_key": KEYS[1]}]}
        (folder / "credentials.yaml").write_text(json.dumps({"principals": [principal]}))
        command = shlex.split(os.environ.get("RAILHEAD_GATEWAY", str(rack.HOME / "railhead")))
        options = f"-Xmx300m {os.environ.get('RAILHEAD_JAVA_OPTIONS', '')}"
        self.process = self.place.processes.start(
            self.name, [*self.host.inside, *command, "serve", "--config", folder / "railhead.yaml"],
            RAILHEAD_JAVA_OPTIONS=options)

    def await_ready(self):
        self.place.processes.await_answer(self.process, f"{self._health}/readyz", lambda status: status == 200,
                                          SECONDS_TO_START)

    def _configuration(self):
        address = self.host.address
        configuration = {
            "gateway": {"name": self.name, "listen": f"{address}:{S3_PORT}", "health": f"{address}:{HEALTH_PORT}",
                        "credentials": "credentials.yaml"},
            "admin": {"enabled": False},
            "cache": {"memory": "512MiB"},
            "backends": {"store": {"endpoints": [self.place.store], "region": rack.REGION}},
            "rules": [{"bucket": bucket, "freshness": freshness} for bucket, freshness in BUCKETS.items()],
        }
        if not self.place.alone:
            configuration["cluster"] = {
                "name": "rig", "listen": f"{address}:{CLUSTER_PORT}", "fills": f"{address}:{FILLS_PORT}",
                "members": [f"{host.address}:{CLUSTER_PORT}" for host in self.place.hosts[:3]],
                "tls": self.place.authorities.tls(self._authority)}
        return configuration

    def stop(self):
        self.place.processes.stop(self.process)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.stop()

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self):
        self.process.send_signal(signal.SIGCONT)

    def figure(self, name, **labels):
        """The sum of a metric's series with these labels; 0 where there is none."""
        with urllib.request.urlopen(f"{self._health}/metrics", timeout=60) as answer:
            text = answer.read().decode()
        found = 0.0
        for labelled, value in re.findall(rf"^{name}(\{{.*\}})? (\S+)$", text, re.MULTILINE):
            if all(f'{label}="{wanted}"' in labelled for label, wanted in labels.items()):
                found += float(value)
        return found

    def members(self):
        return int(self.figure("railhead_cluster_members"))

    def has_lease(self):
        return self.figure("railhead_cluster_lease") == 1


class Place:
    """The whole rig. `alone` leaves the cluster's section out of each configuration: every scenario must fail then."""

    def __init__(self, processes, alone=False):
        self.processes, self.alone = processes, alone
        self._lay_cables()
        self.hosts = [Host(f"g{number}", number) for number in (1, 2, 3, 4)]
        self.authorities = Authorities(processes.folder)
        self.store = self._start_store(Host("store", 100))
        self.gateways = [Gateway(self, host) for host in self.hosts[:3]]
        client = S3(self.store, KEYS)
        for bucket in BUCKETS:
            status, body = client.request("PUT", f"/{bucket}")
            if status != 200:
                raise rack.CannotStart(f"the store made no bucket: {status} {body!r}")

    @staticmethod
    def _lay_cables():
        Path("/run/netns").mkdir(parents=True, exist_ok=True)
        sh("mount", "-t", "tmpfs", "none", "/run/netns")
        sh("ip", "link", "set", "lo", "up")
        sh("ip", "link", "add", "rack", "type", "bridge")
        sh("ip", "addr", "add", f"{NET}.254/24", "dev", "rack")
        sh("ip", "link", "set", "rack", "up")

    def _start_store(self, host):
        if rack.find_minio():
            return rack.start_minio(self.processes, KEYS, host=host.address, inside=host.inside)
        return rack.start_s3proxy(self.processes, KEYS, host=host.address, inside=host.inside)

    def start(self):
        for gateway in self.gateways:
            gateway.start()
        for gateway in self.gateways:
            gateway.await_ready()
        self.settle()

    def settle(self):
        """Seconds until each gateway sees all three and may serve unasked."""
        if self.alone:
            return 0.0
        return wait_for(lambda: all(gateway.members() == 3 and gateway.has_lease() for gateway in self.gateways),
                        "three members that see each other")

    def total(self, name, **labels):
        return sum(gateway.figure(name, **labels) for gateway in self.gateways)

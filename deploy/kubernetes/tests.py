"""What a real cluster shows of the chart and the image; started by deploy/kubernetes/run, in the namespaces that it has made."""

import contextlib
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.dont_write_bytecode = True

from cluster import HERE, HOME, ROUTER, STORE_KEYS, CannotStart, Cluster, Failed, await_true, out  # noqa: E402
from load import LARGE_OBJECTS, content, seed  # noqa: E402

import rack  # noqa: E402
from s3 import S3  # noqa: E402

CANNOT_RUN = 69
CHART = HOME / "helm/railhead"
RESULTS = HOME / "target/kubernetes"
RELEASE = "rack1"
WORKLOAD = "rack1-railhead"
# On an idle machine; a busy one has as much longer as it has processes waiting.
READY_SECONDS = 20
# Of a load that says something, also on a machine that has much else to do.
FEWEST = 20
BUCKET = "bucket"
STORE = "http://minio.default.svc:9000"
# In place of a production rack's sizes and store.
SMALL = ["--set", "memoryMiB.cache=256,memoryMiB.heap=256,memoryMiB.other=384,cpu.request=250m",
         "--set", f"config.backends.store.endpoints={{{STORE}}}"]
TESTS = {}


class LeftOut(Exception):
    """This cluster cannot show it; the message says why."""


def test(function):
    TESTS[function.__name__.replace("_", "-")] = function
    return function


def require(condition, words):
    if not condition:
        raise Failed(words)


class Place:
    """A namespace with a release in it, for one test."""

    def __init__(self, cluster, name, **labels):
        self.cluster, self.name = cluster, name
        self.figures = {}
        cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
        cluster.kubectl("wait", "--for=create", "serviceaccount/default", "-n", name, "--timeout=30s")

    def helm(self, *words):
        return out(["helm", "-n", self.name, *words])

    def kubectl(self, *words, **options):
        return self.cluster.kubectl("-n", self.name, *words, **options)

    def get(self, *words):
        return self.cluster.get("-n", self.name, *words)

    def install(self, example="laptop", *words):
        """Returns the seconds until all that was asked for is ready."""
        begun = time.monotonic()
        self.helm("install", RELEASE, CHART, "--values", CHART / f"ci/{example}-values.yaml", *words, "--wait", "--timeout", "90s")
        return round(time.monotonic() - begun, 1)

    def upgrade(self, example="laptop", *words):
        self.helm("upgrade", RELEASE, CHART, "--values", CHART / f"ci/{example}-values.yaml", *words, "--wait", "--timeout", "120s")

    def secret(self, name, kind="Opaque", **values):
        self.cluster.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "type": kind,
                            "stringData": {key.replace("__", "."): value for key, value in values.items()}}, namespace=self.name)

    def pods(self):
        """Of the gateway."""
        return self.get("pods", "-l", "app.kubernetes.io/name=railhead")["items"]

    def identities(self):
        """Other ones after a restart, of the pod or of its container."""
        return sorted((pod["metadata"]["uid"], pod["status"]["containerStatuses"][0]["restartCount"]) for pod in self.pods())

    def images(self):
        return {pod["spec"]["containers"][0]["image"] for pod in self.pods()}

    def endpoint(self, scheme="http"):
        """The Service's address; it holds on nodes and in pods."""
        spec = self.get("service", WORKLOAD)["spec"]
        return f"{scheme}://{spec['clusterIP']}:{spec['ports'][0]['port']}"

    def load(self, **options):
        return Load(self.cluster.nodes[0], self.endpoint(), **options)

    def run_pod(self, name, args, seconds=60, keys=True, **more):
        """A pod of the image's that ends; its log. `more` goes over its spec."""
        spec = client_pod(args)
        if not keys:
            spec["containers"][0]["env"] = []
        spec.update({key: value for key, value in more.items() if key not in ("env", "mounts")})
        spec["containers"][0]["env"] += more.get("env", [])
        spec["containers"][0]["volumeMounts"] = more.get("mounts", [])
        self.cluster.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}, namespace=self.name)

        def phase():
            said = self.get("pod", name)["status"]["phase"]
            return said if said in ("Succeeded", "Failed") else None
        try:
            ended = await_true(phase, f"the end of pod {name}", seconds)
        except Failed as failure:
            raise Failed(f"{failure}\n{self.kubectl('describe', 'pod', name)[-2000:]}") from failure
        log = self.kubectl("logs", name)
        require(ended == "Succeeded", f"pod {name}: {ended}: {log}")
        return log


def client_pod(args, endpoint=f"http://{WORKLOAD}:9000"):
    """One that the PodSecurity level `restricted` admits; a shell line in the image."""
    return {
        "restartPolicy": "Never", "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": 20000, "runAsGroup": 20000,
                            "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [{
            "name": "client", "image": image_name(), "imagePullPolicy": "Never", "command": ["sh", "-euc", args],
            "env": [{"name": "AWS_ENDPOINT_URL", "value": endpoint}, {"name": "AWS_ACCESS_KEY_ID", "value": STORE_KEYS[0]},
                    {"name": "AWS_SECRET_ACCESS_KEY", "value": STORE_KEYS[1]}],
            "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        }]}


def image_name():
    return "railhead:" + re.search(r'appVersion: "(.*)"', (CHART / "Chart.yaml").read_text())[1]


class Load:
    """As load.py has it, from a node through the Service; ends with the block."""

    def __init__(self, node, endpoint, writes=True):
        self._command = node.inside(sys.executable, HERE / "load.py", endpoint, BUCKET, "-", *(["--writes"] if writes else []))
        self.result = {}

    def __enter__(self):
        self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={
            **os.environ, "AWS_ACCESS_KEY_ID": STORE_KEYS[0], "AWS_SECRET_ACCESS_KEY": STORE_KEYS[1]})
        time.sleep(2)
        return self

    def __exit__(self, kind, *_):
        said, _ = self._process.communicate("", timeout=120)
        if kind is None:
            self.result = json.loads(said)

    def require_none_failed(self):
        require(self.result["failed"] == 0 and self.result["wrong"] == 0 and self.result["requests"] > FEWEST, str(self.result))

    def require_none_wrong(self):
        require(self.result["wrong"] == 0 and self.result["requests"] > FEWEST, str(self.result))


def credentials(*pairs):
    """A credentials.yaml; JSON is YAML too."""
    return json.dumps({"principals": [{
        "name": f"p{index}", "keys": [{"access_key": access, "secret_key": secret}],
        "backend_credential": {"access_key": STORE_KEYS[0], "secret_key": STORE_KEYS[1]}}
        for index, (access, secret) in enumerate(pairs)]})


def certificate(place, name):
    """A pair of files, certificate and key, for the Service."""
    cert, key = (place.cluster.folder / f"{place.name}-{name}.{kind}" for kind in ("crt", "key"))
    out(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
         f"subjectAltName=DNS:{WORKLOAD},DNS:{WORKLOAD}.{place.name}.svc", "-out", cert, "-keyout", key])
    return cert, key


def busy():
    """1 where each processor has one process to run, and two for what a cluster does beside; more where there are more."""
    return max(1.0, os.getloadavg()[0] / (3 * os.cpu_count()))


def install_and_test(place, example, *words):
    """The release is ready soon, and `helm test` passes, with and without logs, and again."""
    seconds = place.install(example, *words)
    place.figures["ready_seconds"] = seconds
    most = round(READY_SECONDS * busy(), 1)
    require(seconds <= most, f"ready in {seconds} s, more than {most}")
    require("Phase:          Succeeded" in place.helm("test", RELEASE), "helm test")
    require("POD LOGS:" in place.helm("test", RELEASE, "--logs"), "helm test --logs")


@test
def install_laptop(place):
    """ci/laptop-values.yaml as it is: ready soon, `helm test` with and without --logs; nothing is left after helm uninstall."""
    install_and_test(place, "laptop")
    place.helm("uninstall", RELEASE, "--wait", "--timeout", "120s")
    # Helm leaves hooks alone.
    expected = {"configmap/kube-root-ca.crt", f"pod/{WORKLOAD}-test"}
    await_true(lambda: set(place.kubectl("get", "all,configmap,secret,pdb,networkpolicy,endpointslice", "-o", "name").split())
               == expected, "nothing left after helm uninstall", 60)


@test
def install_pass_through(place):
    """ci/pass-through-values.yaml, small and on this cluster's store."""
    install_and_test(place, "pass-through", *SMALL)
    place.run_pod("client", "railhead ls s3://bucket/ >/tmp/list; wc -l </tmp/list")


@test
def install_multi_tenant(place):
    """ci/multi-tenant-values.yaml, small and on this cluster's store: two gateways, TLS both ways, two tenants behind a policy."""
    pairs = {name: certificate(place, name) for name in ("gateway", "client")}
    place.secret("railhead-certificate", "kubernetes.io/tls",
                 tls__crt=pairs["gateway"][0].read_text(), tls__key=pairs["gateway"][1].read_text())
    place.secret("rack-clients", ca__crt=pairs["client"][0].read_text())
    store = [f"credentials.principals[{index}].backend_credential.{key}={value}" for index in (0, 1)
             for key, value in zip(("access_key", "secret_key"), STORE_KEYS)]
    install_and_test(place, "multi-tenant", *SMALL, "--set", ",".join(store))
    S3(place.cluster.store, STORE_KEYS).request("PUT", "/vision")
    says = {}
    for key in "AKIDVISION", "AKIDSPEECH":
        os.environ.update(AWS_CA_BUNDLE=str(pairs["gateway"][0]), CLIENT_CERTIFICATE=str(pairs["client"][0]),
                          CLIENT_KEY=str(pairs["client"][1]))
        says[key] = on_node(place, f"S3({place.endpoint('https')!r}, ({key!r}, 'change-me')).request('PUT', '/vision/k', b'x')[0]")
    require(says == {"AKIDVISION": 200, "AKIDSPEECH": 403}, str(says))


@test
def install_daemonset(place):
    """ci/daemonset-values.yaml, small and on this cluster's store: a gateway on each node that has the label."""
    daemonset(place)
    require({pod["spec"]["nodeName"] for pod in place.pods()} == {"node1", "node2"}, "not on each node")


def daemonset(place):
    place.cluster.kubectl("label", "node", "--all", "--overwrite", "nvidia.com/gpu.present=true")
    place.secret("railhead-credentials", credentials__yaml=credentials(STORE_KEYS))
    install_and_test(place, "daemonset", *SMALL)


def on_node(place, expression):
    """What a Python expression with S3 says on a node."""
    library = str(HERE.parent / "lib")
    return json.loads(out(place.cluster.nodes[0].inside(
        sys.executable, "-B", "-c", f"import sys, json; sys.path.insert(0, {library!r})\nfrom s3 import S3\nprint(json.dumps({expression}))")))


@test
def helm_test_object(place):
    """`helm test` with test.object reads an object through the gateway, and fails where there is none."""
    place.secret("railhead-test", AWS_ACCESS_KEY_ID=STORE_KEYS[0], AWS_SECRET_ACCESS_KEY=STORE_KEYS[1])
    place.install("laptop", "--set", f"test.object={BUCKET}/1,test.existingSecret=railhead-test")
    require("Succeeded" in place.helm("test", RELEASE, "--logs"), "helm test")
    place.upgrade("laptop", "--set", f"test.object={BUCKET}/none,test.existingSecret=railhead-test")
    try:
        place.helm("test", RELEASE, "--logs")
    except Failed as failure:
        require("POD LOGS" in str(failure) and "NoSuchKey" in str(failure), f"the log does not say why: {failure}")
    else:
        raise Failed("it passes although there is no such object")


@test
def s3_through_the_service(place):
    """Objects are written and read through the Service from a node and from pods, by name; the second read is a hit."""
    place.install()
    says = on_node(place, f"(lambda c: [c.request('PUT', '/{BUCKET}/node', b'abc')[0], c.request('GET', '/{BUCKET}/node')[0],"
                          f" c.request('GET', '/{BUCKET}/node')[1].decode(), c.headers['x-cache']])"
                          f"(S3({place.endpoint()!r}, {STORE_KEYS!r}))")
    require(says[:3] == [200, 200, "abc"] and says[3] in ("HIT", "REVALIDATED"), str(says))
    place.run_pod("client", f"""
        head -c 5000000 /dev/urandom >/tmp/a
        railhead put /tmp/a s3://{BUCKET}/pod
        railhead get s3://{BUCKET}/pod --output /tmp/b
        busybox cmp /tmp/a /tmp/b""")


@test
def exec_and_logs(place):
    """`kubectl exec POD -- railhead doctor` works, and each line of `kubectl logs` is a JSON object, to the gateway's end."""
    place.install("laptop", "--set", "config.log.access.file=stdout")
    pod = place.pods()[0]["metadata"]["name"]
    doctor = subprocess.run(["kubectl", "-n", place.name, "exec", pod, "--", "railhead", "doctor"], capture_output=True, text=True,
                            check=False, timeout=120)
    (RESULTS / "doctor.txt").write_text(doctor.stdout + doctor.stderr)
    require(doctor.returncode == 0, f"railhead doctor ended with {doctor.returncode}: {doctor.stdout}{doctor.stderr}")
    on_node(place, f"S3({place.endpoint()!r}, {STORE_KEYS!r}).request('GET', '/{BUCKET}/1')[0]")
    follow = subprocess.Popen(["kubectl", "-n", place.name, "logs", "-f", pod], stdout=subprocess.PIPE, text=True)
    place.kubectl("delete", "pod", pod, "--wait=true", "--timeout=90s")
    log, _ = follow.communicate(timeout=30)
    (RESULTS / "log.txt").write_text(log)
    lines = log.splitlines()
    bad = [line for line in lines if not is_object(line)]
    require(not bad, f"no JSON: {bad[:3]}")
    require(len(lines) > 3 and any("ready" in line for line in lines) and "stopped" in lines[-1], f"the log: {lines[-3:]}")
    place.figures["lines"] = len(lines)


def is_object(line):
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


@contextlib.contextmanager
def two(place, *words):
    """Two gateways under load; no request may fail."""
    place.install("laptop", "--set", "replicas=2", *words)
    with place.load() as load:
        yield load
        time.sleep(2)
    place.figures["load"] = load.result
    load.require_none_failed()


@test
def rolling_restart(place):
    """Two gateways are restarted one after the other under load: no request fails, no byte is wrong."""
    with two(place):
        before = place.identities()
        place.kubectl("rollout", "restart", f"statefulset/{WORKLOAD}")
        place.kubectl("rollout", "status", f"statefulset/{WORKLOAD}", "--timeout=120s")
        require(not set(before) & set(place.identities()), "not all were restarted")


@test
def one_cache(place):
    """
    Three gateways are one cluster: each sees what was written through another, under `immutable`, also once one of them was
    replaced.
    """
    members(place, "members")
    one = ["--set", "replicas=3,cluster.enabled=true,cluster.existingSecret=members",
           "--set", f"config.rules[0].bucket={BUCKET},config.rules[0].freshness=immutable"]
    place.install("laptop", *one)
    await_true(lambda: sizes(place) == [3, 3, 3], "three members, as each sees it", 60)
    place.figures["written_and_read"] = written_and_read(place, 20)
    place.kubectl("delete", "pod", f"{WORKLOAD}-1", "--wait=true", "--timeout=90s")
    place.kubectl("wait", "pod", f"{WORKLOAD}-1", "--for=condition=Ready", "--timeout=120s")
    await_true(lambda: sizes(place) == [3, 3, 3], "three members again", 60)
    written_and_read(place, 5)


def members(place, secret):
    """Makes the Secret by which gateways prove themselves to each other, with an authority of its own."""
    folder = Path(tempfile.mkdtemp(prefix="members-", dir=place.cluster.folder))
    new = ["openssl", "req", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    out([*new, "-x509", "-subj", "/CN=members", "-out", folder / "ca.crt", "-keyout", folder / "ca.key"])
    out([*new, "-subj", "/CN=gateway", "-out", folder / "csr", "-keyout", folder / "tls.key"])
    out(["openssl", "x509", "-req", "-in", folder / "csr", "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key", "-CAcreateserial",
         "-days", "2", "-out", folder / "tls.crt"])
    place.secret(secret, **{name.replace(".", "__"): (folder / name).read_text() for name in ("tls.crt", "tls.key", "ca.crt")})


def sizes(place):
    """How many members each gateway sees."""
    found = []
    for pod in sorted(place.pods(), key=lambda each: each["metadata"]["name"]):
        text = on_node(place, f"__import__('urllib.request').request.urlopen('http://{pod['status']['podIP']}:9901/metrics').read().decode()")
        found.append(int(float(re.search(r"^railhead_cluster_members (\S+)", text, re.MULTILINE)[1])))
    return found


def written_and_read(place, rounds):
    """Writes through one gateway and reads at once through each; the number of reads, each of which was of the new bytes."""
    addresses = [pod["status"]["podIP"] for pod in place.pods()]
    says = on_node(place, f"""(lambda cs: [cs[(n + k) % len(cs)].request('GET', '/{BUCKET}/one-cache')[1].decode() == str(n)
        for n in range({rounds}) if cs[n % len(cs)].request('PUT', '/{BUCKET}/one-cache', str(n).encode())[0] == 200
        for k in range(len(cs))])([S3(f'http://{{a}}:9000', {STORE_KEYS!r}) for a in {addresses!r}])""")
    require(len(says) == rounds * len(addresses) and all(says), f"{says.count(False)} of {len(says)} reads were not of the new bytes")
    return len(says)


@test
def scale(place):
    """Two gateways become three and then one under load: no request fails, no byte is wrong."""
    with two(place):
        place.upgrade("laptop", "--set", "replicas=3")
        require(len(place.pods()) == 3, "not three")
        place.upgrade("laptop", "--set", "replicas=1")
        await_true(lambda: len(place.pods()) == 1, "one gateway", 90)


@test
def restart_of_one(place):
    """The gap of a rack with one gateway, measured: how long no request succeeds while it is restarted, and how many fail."""
    place.install()
    with place.load() as load:
        place.kubectl("rollout", "restart", f"statefulset/{WORKLOAD}")
        place.kubectl("rollout", "status", f"statefulset/{WORKLOAD}", "--timeout=120s")
        time.sleep(3)
    place.figures["load"] = load.result
    load.require_none_wrong()


@test
def upgrade_and_rollback(place):
    """helm upgrade of rules is in force without a restart, of another key by one; helm rollback brings both back."""
    place.install()
    before = place.identities()
    cache = f"(lambda c: [c.request('GET', '/{BUCKET}/5')[0], c.request('GET', '/{BUCKET}/5')[0], c.headers['x-cache']][2])" \
            f"(S3({place.endpoint()!r}, {STORE_KEYS!r}))"
    require(on_node(place, cache) == "REVALIDATED", "strong is the default")
    begun = time.monotonic()
    place.upgrade("laptop", "--set", "config.rules[0].freshness=immutable")
    await_true(lambda: on_node(place, cache) == "HIT", "the new rule in force", 90)
    place.figures["rule_in_force_seconds"] = round(time.monotonic() - begun, 1)
    require(place.identities() == before, "a changed rule restarted the pod")
    place.upgrade("laptop", "--set", "config.rules[0].freshness=immutable,config.gateway.idle_timeout=50s")
    require(place.identities() != before, "a changed gateway.idle_timeout restarted nothing")
    before = place.identities()
    place.helm("rollback", RELEASE, "1", "--wait", "--timeout", "120s")
    require(place.identities() != before, "the rollback restarted nothing")
    require(on_node(place, cache) == "REVALIDATED", "the rollback did not bring the rules back")


@test
def disk_tier(place):
    """
    helm upgrade adds the disk tier, on a local PersistentVolume with a file system, then with a raw device; pages outlive the pod.
    helm rollback takes the tier away, and leaves the claim.
    """
    place.install()
    try:
        for mode in "Filesystem", "Block":
            with local_volume(place, mode):
                place.upgrade("laptop", "--set", f"disk.sizeGiB=1,disk.claims.storageClassName={place.name}-{mode.lower()}"
                              f",disk.claims.mode={mode},config.rules[0].freshness=immutable")
                require(stateful_sets(place) == [f"{WORKLOAD}-disk"], str(stateful_sets(place)))
                place.figures[f"{mode}_pages_read"] = pages_after_a_restart(place)
                place.helm("rollback", RELEASE, "1", "--wait", "--timeout", "120s")
                require(stateful_sets(place) == [WORKLOAD], str(stateful_sets(place)))
                claims = [claim["metadata"]["name"] for claim in place.get("persistentvolumeclaim")["items"]]
                require(claims == [f"disk0-{WORKLOAD}-disk-0"], str(claims))
                place.kubectl("delete", "persistentvolumeclaim", "--all", "--timeout=60s")
    finally:
        place.cluster.kubectl("delete", "persistentvolume", "-l", f"of={place.name}", "--ignore-not-found", "--wait=false")


def stateful_sets(place):
    return [each["metadata"]["name"] for each in place.get("statefulset")["items"]]


@contextlib.contextmanager
def local_volume(place, mode):
    """Of node1: a folder, or a loop device that is owned as drives are."""
    name = f"{place.name}-{mode.lower()}"
    at = place.cluster.folder / name
    device = None
    if mode == "Block":
        with open(at, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, 1 << 30)
        at = device = Path(out(["losetup", "--find", "--show", at]).strip())
        os.chown(device, 0, 6)
        device.chmod(0o660)
    else:
        at.mkdir()
    place.cluster.apply({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name, "labels": {"of": place.name}}, "spec": {
            "capacity": {"storage": "2Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": name, "volumeMode": mode,
            "persistentVolumeReclaimPolicy": "Retain", "local": {"path": str(at)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/hostname", "operator": "In", "values": ["node1"]}]}]}}}})
    try:
        yield
    finally:
        if device:
            subprocess.run(["losetup", "--detach", device], check=False)


def pages_after_a_restart(place):
    """The number of pages that the next pod reads from disk, of those that the pod before had in memory at its end."""
    pod = f"{WORKLOAD}-disk-0"
    read = f"[S3({place.endpoint()!r}, {STORE_KEYS!r}).request('GET', f'/{BUCKET}/{{n}}')[0] for n in range(8)]"
    require(set(on_node(place, read)) == {200}, "reads before the restart")
    place.kubectl("delete", "pod", pod, "--timeout=90s")
    place.kubectl("wait", "pod", pod, "--for=condition=Ready", "--timeout=120s")
    address = place.get("pod", pod)["status"]["podIP"]
    metrics = f"__import__('urllib.request').request.urlopen('http://{address}:9901/metrics').read().decode()"
    known = 'railhead_disk_volumes{state="recovering",} 0.0'
    await_true(lambda: known in on_node(place, metrics), "the disk's pages known", 60)
    require('railhead_disk_volumes{state="working",} 1.0' in on_node(place, metrics), "the disk does not work")
    require(set(on_node(place, read)) == {200}, "reads after the restart")
    pages = float(re.search(r'railhead_disk_pages_total{result="read",} (\S+)', on_node(place, metrics))[1])
    require(pages > 0, "no page came from disk")
    return pages


@test
def upgrade_from_release(place):
    """Two gateways of the release before become this version by its chart, and are brought back, under load: no request fails."""
    if place.cluster.before is None:
        raise LeftOut("no release before was named: --before DIST")
    chart = next(iter(sorted(place.cluster.before.glob("railhead-*.tgz"))), None)
    require(chart, f"{place.cluster.before} has no chart")
    example = max((HOME / "deploy/upgrade").glob("*/values/laptop-values.yaml"))
    place.helm("install", RELEASE, chart, "--values", example, "--set", "replicas=2,image.tag=before", "--wait", "--timeout", "90s")
    require(place.images() == {"railhead:before"}, str(place.images()))
    with place.load() as load:
        for words, image in ((["upgrade", RELEASE, CHART, "--values", example, "--set", "replicas=2"], image_name()),
                             (["rollback", RELEASE, "1"], "railhead:before")):
            before = place.identities()
            begun = time.monotonic()
            place.helm(*words, "--wait", "--timeout", "150s")
            place.kubectl("rollout", "status", f"statefulset/{WORKLOAD}", "--timeout=120s")
            require(place.images() == {image} and not set(before) & set(place.identities()), f"{words[0]}: {place.images()}")
            place.figures[f"{words[0]}_seconds"] = round(time.monotonic() - begun, 1)
    place.figures["load"] = load.result
    load.require_none_failed()


def answers_with(place, pair, scheme="http"):
    return on_node(place, f"S3({place.endpoint(scheme)!r}, {pair!r}, 1).request('GET', '/{BUCKET}/1')[0]")


@test
def rotation(place):
    """Changed Secrets with credentials and certificate, and a changed policy, are in force without a restart, under load."""
    old, new = STORE_KEYS, ("AKIDNEW", "secret-of-the-new-key")
    certificates = [certificate(place, name) for name in ("first", "second")]

    def set_certificate(pair):
        place.secret("certificate", "kubernetes.io/tls", tls__crt=pair[0].read_text(), tls__key=pair[1].read_text())

    place.secret("keys", credentials__yaml=credentials(old))
    set_certificate(certificates[0])
    # Both, so that the load's client trusts whichever is shown.
    bundle = place.cluster.folder / f"{place.name}.ca"
    bundle.write_text("".join(cert.read_text() for cert, _ in certificates))
    os.environ.update(AWS_CA_BUNDLE=str(bundle), CLIENT_CERTIFICATE="", CLIENT_KEY="")
    words = ["--set", "credentials.principals=null,credentials.existingSecret=keys,tls.existingSecret=certificate"]
    place.install("laptop", *words)
    before = place.identities()
    with Load(place.cluster.nodes[0], place.endpoint("https")) as load:
        place.secret("keys", credentials__yaml=credentials(old, new))
        begun = time.monotonic()
        await_true(lambda: answers_with(place, new, "https") == 200, "the new key known", 120)
        place.figures["credentials_seconds"] = round(time.monotonic() - begun, 1)
        set_certificate(certificates[1])
        begun = time.monotonic()
        await_true(lambda: shown_certificate(place) == certificates[1][0].read_text(), "the new certificate shown", 120)
        place.figures["certificate_seconds"] = round(time.monotonic() - begun, 1)
    place.figures["load"] = load.result
    load.require_none_failed()
    place.secret("keys", credentials__yaml=credentials(new))
    await_true(lambda: answers_with(place, old, "https") == 403, "the old key unknown", 120)
    require(answers_with(place, new, "https") == 200, "the new key is refused")
    deny = {"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "p0", "Action": "s3:*", "Resource": [
        "arn:aws:s3:::other/*"]}]}
    place.upgrade("laptop", *words, "--set-json", "policy=" + json.dumps(deny))
    # The first policy of a release is a new key of the configuration.
    before_policy = place.identities()
    require(answers_with(place, new, "https") == 403, "the policy denies nothing")
    deny["Statement"][0]["Resource"] = [f"arn:aws:s3:::{BUCKET}", f"arn:aws:s3:::{BUCKET}/*"]
    place.upgrade("laptop", *words, "--set-json", "policy=" + json.dumps(deny))
    await_true(lambda: answers_with(place, new, "https") == 200, "the new policy in force", 120)
    require(place.identities() == before_policy and before_policy != before, "a changed policy restarted the pod")


def shown_certificate(place):
    address = place.get("service", WORKLOAD)["spec"]["clusterIP"]
    shown = out(place.cluster.nodes[0].inside(
        sys.executable, "-c", f"import ssl; print(ssl.get_server_certificate(({address!r}, 9000)), end='')"))
    return shown if shown.endswith("\n") else shown + "\n"


@test
def drain(place):
    """A node is drained under load and no request fails; the budget lets only one of two gateways go at a time."""
    nodes = [node.name for node in place.cluster.nodes]
    try:
        with two(place, "--set", "podDisruptionBudget.enabled=true"):
            node = place.pods()[0]["spec"]["nodeName"]
            begun = time.monotonic()
            place.cluster.kubectl("drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=150s",
                                  f"--pod-selector=app.kubernetes.io/instance={RELEASE}")
            place.figures["drain_seconds"] = round(time.monotonic() - begun, 1)
            place.kubectl("rollout", "status", f"statefulset/{WORKLOAD}", "--timeout=120s")
            require({pod["spec"]["nodeName"] for pod in place.pods()} == set(nodes) - {node}, "a gateway is on the drained node")
            place.cluster.kubectl("cordon", *nodes)
            await_true(lambda: place.get("pdb", WORKLOAD)["status"]["disruptionsAllowed"] == 1, "a budget of one", 60)
            evict(place, f"{WORKLOAD}-0")
            try:
                evict(place, f"{WORKLOAD}-1")
            except Failed as failure:
                require("disruption budget" in str(failure), str(failure))
            else:
                raise Failed("the budget let the second gateway go as well")
    finally:
        place.cluster.kubectl("uncordon", *nodes)


def evict(place, pod):
    path = f"/api/v1/namespaces/{place.name}/pods/{pod}/eviction"
    place.cluster.kubectl("create", "--raw", path, "-f", "-", input=json.dumps(
        {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": place.name}}))


SOCKETS = {"name": "railhead", "mountPath": "/run/railhead", "readOnly": True}
READ_BY_LOOPBACK = f"railhead get s3://{BUCKET}/12 --output /tmp/12 --via loopback --no-fallback -v; wc -c </tmp/12"


@test
def daemonset_socket(place):
    """A pod that mounts the node's /run/railhead reads over the socket of its node's gateway, as another user."""
    daemonset(place)
    for node in place.cluster.nodes:
        log = place.run_pod(f"client-{node.name}", READ_BY_LOOPBACK, nodeName=node.name, mounts=[SOCKETS],
                            volumes=[{"name": "railhead", "hostPath": {"path": "/run/railhead", "type": "Directory"}}])
        require("loopback" in log and str(len(content(12))) in log, log)


ISSUER = "https://kubernetes.default.svc"
TOKEN = "/var/run/secrets/railhead/token"
# Each client reads the same object; the second line of the Python package's is over the socket of the node's gateway.
WITHOUT_A_KEY = """
import hashlib, os, subprocess, sys
import boto3, railhead

def said(name, data):
    print("read", name, hashlib.sha256(data).hexdigest(), flush=True)

keys = [name for name in os.environ if "SECRET" in name or name == "AWS_ACCESS_KEY_ID"]
assert not keys and not os.path.exists(os.path.expanduser("~/.aws")), keys
subprocess.run([sys.executable, "-m", "awscli", "s3", "cp", "--only-show-errors", f"s3://{os.environ['BUCKET']}/12", "/tmp/12"], check=True)
said("aws", open("/tmp/12", "rb").read())
subprocess.run([sys.executable, "-m", "awscli", "sts", "get-caller-identity", "--output", "text"], check=True)
said("boto3", boto3.client("s3").get_object(Bucket=os.environ["BUCKET"], Key="12")["Body"].read())
for fabric in "http", "loopback":
    with railhead.Client(fabric=fabric) as client:
        said(f"railhead-{fabric}", client.get(f"s3://{os.environ['BUCKET']}/12"))
        print("via", client.via, flush=True)
"""


def projected(audience="railhead"):
    """What a pod needs in place of keys: three variables, and a token of its own."""
    return {
        "keys": False,
        "env": [{"name": name, "value": value} for name, value in {
            "AWS_ENDPOINT_URL": f"http://{WORKLOAD}:9000", "AWS_ENDPOINT_URL_STS": f"http://{WORKLOAD}:9000",
            "AWS_ROLE_ARN": "arn:aws:iam::000000000000:role/pods", "AWS_WEB_IDENTITY_TOKEN_FILE": TOKEN,
            "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true", "HOME": "/tmp", "BUCKET": BUCKET}.items()],
        "mounts": [{"name": "token", "mountPath": str(Path(TOKEN).parent), "readOnly": True}, SOCKETS],
        "volumes": [{"name": "token", "projected": {"sources": [{"serviceAccountToken": {
                        "audience": audience, "path": "token", "expirationSeconds": 3600}}]}},
                    {"name": "railhead", "hostPath": {"path": "/run/railhead", "type": "Directory"}}]}


def with_python(pod):
    """This machine's Python, and clients for it, in a pod: its /usr is then this machine's."""
    clients = Path(os.environ["RAILHEAD_CLUSTER_PROGRAMS"], "clients")
    real = Path(out([clients / "bin/python", "-c", "import sys; print(sys.base_prefix)"]).strip())
    folders = ["/usr", str(clients), str(HOME / "client/python/src"), str(RESULTS / "c")]
    folders += [] if real.is_relative_to("/usr") else [str(real)]
    for number, folder in enumerate(folders):
        pod["mounts"].append({"name": f"python{number}", "mountPath": folder, "readOnly": True})
        pod["volumes"].append({"name": f"python{number}", "hostPath": {"path": folder, "type": "Directory"}})
    pod["env"] += [{"name": "PYTHONPATH", "value": folders[2]}, {"name": "PYTHONDONTWRITEBYTECODE", "value": "1"},
                   {"name": "RAILHEAD_LIBRARY", "value": f"{folders[3]}/librailhead.so.1"}]
    # What lies in root's home, as pyenv's Python may, is root's alone.
    pod["securityContext"] = {"runAsUser": 0, "runAsGroup": 0, "seccompProfile": {"type": "RuntimeDefault"}}
    return pod, f"{clients}/bin/python -c {shlex.quote(WITHOUT_A_KEY)}"


def refusal(place, name, pod):
    """How a pod without a key is refused that asks who it is."""
    pod, _ = with_python(pod)
    python = f"{os.environ['RAILHEAD_CLUSTER_PROGRAMS']}/clients/bin/python"
    return place.run_pod(name, f"! {python} -m awscli sts get-caller-identity 2>&1", **pod)


@test
def web_identity(place):
    """
    Pods without a key read by the API server's tokens: aws, boto3, the Python package over HTTP and over the node's socket, and
    `railhead get` by the AWS SDK for Java. Another namespace and another audience are refused. The keys are had from the API
    server, and by the issuer's OpenID document. A session outlives the gateways' restart.
    """
    build = RESULTS / "c-build"
    out(["cmake", "-S", HOME / "client/c", "-B", build, "-DCMAKE_BUILD_TYPE=Release"])
    out(["cmake", "--build", build, "--target", "railhead"])
    (RESULTS / "c").mkdir(exist_ok=True)
    (RESULTS / "c/librailhead.so.1").write_bytes((build / "librailhead.so.1").read_bytes())

    require(place.kubectl("auth", "can-i", "get", "/openid/v1/jwks", f"--as=system:serviceaccount:{place.name}:{WORKLOAD}",
                          "--as-group=system:serviceaccounts").strip() == "yes", "the API server's keys are not shown")
    place.cluster.kubectl("label", "node", "--all", "--overwrite", "nvidia.com/gpu.present=true")
    values = place.cluster.folder / "web-identity.yaml"
    values.write_text(json.dumps({
        "credentials": {"existingSecret": "", "roles": [{
            "name": "pods", "issuer": ISSUER, "claims": {"kubernetes.io/namespace": place.name},
            "principal": "${kubernetes.io/namespace}.${kubernetes.io/serviceaccount/name}",
            "backend_credential": {"access_key": STORE_KEYS[0], "secret_key": STORE_KEYS[1]}}]},
        "webIdentity": {"enabled": True, "cluster": {"issuer": ISSUER}}}))
    place.install("daemonset", *SMALL, "--values", values)
    expected = hashlib.sha256(content(12)).hexdigest()
    identity = "assumed-role/pods/"

    def read(name):
        pod, command = with_python(projected())
        log = place.run_pod(name, command, seconds=120, **pod)
        (RESULTS / f"web-identity-{name}.txt").write_text(log)
        reads = re.findall(r"^read (\S+) (\S+)$", log, re.MULTILINE)
        require(reads == [(each, expected) for each in ("aws", "boto3", "railhead-http", "railhead-loopback")], log)
        require("via loopback" in log and identity in log, log)

    read("python")
    for via in "http", "loopback":
        log = place.run_pod(f"java-{via}", f"railhead get s3://{BUCKET}/12 --output /tmp/12 --via {via} --no-fallback -v; "
                            "busybox sha256sum /tmp/12", **projected())
        require(expected in log, log)
    other = Place(place.cluster, f"{place.name}-other")
    try:
        pod = projected()
        for each in pod["env"]:
            each["value"] = each["value"].replace(WORKLOAD, f"{WORKLOAD}.{place.name}.svc")
        said = refusal(other, "other", pod)
        require("AccessDenied" in said, said)
    finally:
        place.cluster.kubectl("delete", "namespace", other.name, "--wait=false")
    said = refusal(place, "audience", projected("other"))
    require("InvalidIdentityToken" in said, said)

    def seal():
        return place.get("secret", f"{WORKLOAD}-session-keys")["data"]

    kept = session(place, "before")
    sealed = seal()
    before = place.identities()
    # The API server's document names its own address, which is not the issuer's host.
    place.upgrade("daemonset", *SMALL, "--values", values, "--set", "webIdentity.cluster.jwks=",
                  "--set", f"webIdentity.cluster.tokenHosts={{{ROUTER}}}")
    place.kubectl("rollout", "status", f"daemonset/{WORKLOAD}", "--timeout=120s")
    require(not set(before) & set(place.identities()) and seal() == sealed, "not restarted, or with another key")
    require(on_node(place, f"S3({place.endpoint()!r}, {kept[:2]!r}).request('GET', '/{BUCKET}/12', "
                    f"headers={{'x-amz-security-token': {kept[2]!r}}})[0]") == 200, "a session from before the restart")
    read("discovered")


def session(place, name):
    """Credentials that a pod has been given."""
    pod, _ = with_python(projected())
    python = f"{os.environ['RAILHEAD_CLUSTER_PROGRAMS']}/clients/bin/python"
    found = "import botocore.session, json; print(json.dumps(botocore.session.Session().get_credentials().get_frozen_credentials()))"
    return tuple(json.loads(place.run_pod(name, f"{python} -c {shlex.quote(found)}", **pod))[:3])


@test
def restricted(place):
    """Under PodSecurity `restricted`: a gateway runs, a consumer has HTTP, hostPath is refused, a PersistentVolume gives loopback."""
    place.cluster.kubectl("label", "namespace", place.name, "pod-security.kubernetes.io/enforce=restricted")
    place.install("laptop", "--set", f"test.object={BUCKET}/1,test.existingSecret=railhead-test")
    place.secret("railhead-test", AWS_ACCESS_KEY_ID=STORE_KEYS[0], AWS_SECRET_ACCESS_KEY=STORE_KEYS[1])
    require("Succeeded" in place.helm("test", RELEASE), "helm test")
    place.run_pod("http", f"railhead get s3://{BUCKET}/3 --output /tmp/3")
    try:
        place.run_pod("folder", "true", mounts=[SOCKETS],
                      volumes=[{"name": "railhead", "hostPath": {"path": "/run/railhead"}}])
    except Failed as failure:
        require("violates PodSecurity" in str(failure), str(failure))
    else:
        raise Failed("a pod with a hostPath was admitted")
    gateways = Place(place.cluster, f"{place.name}-gateways")
    try:
        daemonset(gateways)
        volume = f"railhead-{place.name}"
        place.cluster.apply(
            {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": {
                "capacity": {"storage": "1Mi"}, "accessModes": ["ReadOnlyMany"], "storageClassName": "",
                "claimRef": {"namespace": place.name, "name": "railhead"}, "hostPath": {"path": "/run/railhead", "type": "Directory"}}})
        place.cluster.apply(
            {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "railhead"}, "spec": {
                "accessModes": ["ReadOnlyMany"], "storageClassName": "", "volumeName": volume,
                "resources": {"requests": {"storage": "1Mi"}}}}, namespace=place.name)
        log = place.run_pod("loopback", READ_BY_LOOPBACK.replace(
            "railhead get", f"export AWS_ENDPOINT_URL=http://{WORKLOAD}.{gateways.name}.svc:9000; railhead get"),
            mounts=[SOCKETS], volumes=[{"name": "railhead", "persistentVolumeClaim": {"claimName": "railhead", "readOnly": True}}])
        require("loopback" in log and str(len(content(12))) in log, log)
    finally:
        place.cluster.kubectl("delete", "namespace", gateways.name, "--timeout=120s")
        place.cluster.kubectl("delete", "persistentvolume", f"railhead-{place.name}", "--ignore-not-found", "--wait=false")


@test
def network_policy(place):
    """The policy of the chart is accepted; that it is held cannot be shown with this network."""
    place.install("laptop", "--set", "networkPolicy.enabled=true")
    require(place.get("networkpolicy")["items"], "there is no NetworkPolicy")
    raise LeftOut("the policy was accepted, but the CNI plugin ptp holds no NetworkPolicy")


@test
def limits_under_load(place):
    """Requests and limits as rendered hold under load that fills cache, heap and buffers: nothing is killed."""
    store = S3(place.cluster.store, STORE_KEYS)
    for number in range(LARGE_OBJECTS):
        store.request("PUT", f"/{BUCKET}/large-{number}", content(12))
    place.install("laptop", *SMALL, "--set", "config.rules[0].freshness=immutable")
    pod = place.pods()[0]
    readers = [subprocess.Popen(place.cluster.nodes[index % 2].inside(
        sys.executable, HERE / "load.py", place.endpoint(), BUCKET, "20", "--writes", "--large"), stdout=subprocess.PIPE,
        text=True, env={**os.environ, "AWS_ACCESS_KEY_ID": STORE_KEYS[0], "AWS_SECRET_ACCESS_KEY": STORE_KEYS[1]})
        for index in range(3)]
    most = 0
    while any(reader.poll() is None for reader in readers):
        most = max(most, used_memory(place, pod))
        time.sleep(1)
    results = [json.loads(reader.stdout.read()) for reader in readers]
    place.figures.update(requests=sum(result["requests"] for result in results), most_mib=round(most / 2**20),
                         limit=pod["spec"]["containers"][0]["resources"]["limits"]["memory"])
    require(place.identities() == [(pod["metadata"]["uid"], 0)], f"restarted: {place.pods()[0]['status']}")
    require(all(result["failed"] == result["wrong"] == 0 for result in results), str(results))


def used_memory(place, pod):
    with contextlib.suppress(Failed, KeyError):
        summary = place.cluster.get_raw(f"/api/v1/nodes/{pod['spec']['nodeName']}/proxy/stats/summary?only_cpu_and_memory=true")
        for each in summary["pods"]:
            if each["podRef"]["uid"] == pod["metadata"]["uid"]:
                return each["memory"]["workingSetBytes"]
    return 0


DRAINS = "Readiness probe failed: HTTP probe failed with statuscode: 503"
# On a busy machine a probe also comes too late, or to a gateway that has just ended.
ON_A_BUSY_MACHINE = "context deadline exceeded", "connection refused"


@test
def quiet(place):
    """
    A gateway that starts, serves, and ends at leisure leaves no warning among the namespace's events. A startup probe that
    comes before a slow machine's gateway says nothing of the gateway, nor a readiness probe that meets it while it drains.
    """
    place.install()
    with place.load():
        time.sleep(15)
    place.upgrade("laptop", "--set", "config.gateway.idle_timeout=50s")
    place.kubectl("scale", f"statefulset/{WORKLOAD}", "--replicas=0")
    await_true(lambda: not place.pods(), "no gateway", 90)
    warnings = [f"{event['reason']}: {event['message']} ({event.get('count')})" for event in place.get("events")["items"]
                if event["type"] == "Warning" and not event["message"].startswith(("Startup probe failed", DRAINS))
                and not (busy() > 1 and event["message"].startswith("Readiness probe failed")
                         and any(each in event["message"] for each in ON_A_BUSY_MACHINE))]
    require(not warnings, "; ".join(warnings))


@test
def oldest_kubernetes(place):
    """Each example, as rendered for the oldest Kubernetes that Chart.yaml names, has only fields that its schema knows."""
    swagger = Path(os.environ["RAILHEAD_CLUSTER_SWAGGER"])
    definitions = json.loads(swagger.read_text())
    oldest = re.search(r"-(\d+\.\d+)", swagger.name)[1]
    claimed = re.search(r'kubeVersion: ">=([0-9]+\.[0-9]+)', (CHART / "Chart.yaml").read_text())[1]
    require(claimed == oldest, f"Chart.yaml says {claimed}, and the schema is {oldest}'s")
    seen, unknown = 0, []
    for example in sorted((CHART / "ci").glob("*-values.yaml")):
        more = ["--set", "service.trafficDistribution="] if "daemonset" in example.name else []
        rendered = out(["helm", "template", RELEASE, CHART, "--values", example, "--kube-version", f"{oldest}.0", *more])
        listed = place.kubectl("create", "--dry-run=client", "--validate=false", "-o", "json", "-f", "-", input="\n---\n".join(
            part for part in re.split(r"(?m)^---$", rendered)
            if re.search(r"(?m)^kind: ", part) and not re.search(r"(?m)^apiVersion: (cert-manager|monitoring)", part)))
        for document in json.JSONDecoder().decode("[" + re.sub(r"(?m)^\}\n\{", "},\n{", listed) + "]"):
            for item in document.get("items", [document]):
                seen += 1
                unknown += [f"{example.name}: {item['kind']}{path}" for path in unknown_fields(definitions["definitions"], item)]
    place.figures["documents"] = seen
    require(seen >= 20 and not unknown, str(unknown or seen))


def unknown_fields(definitions, document):
    group, _, version = document["apiVersion"].rpartition("/")
    kind = {"group": group, "kind": document["kind"], "version": version}
    schema = next(each for each in definitions.values() if kind in each.get("x-kubernetes-group-version-kind", []))
    yield from unknown_in(definitions, schema, document, "")


JSON_TYPES = {"string": str, "integer": int, "boolean": bool, "array": list, "object": dict, "number": (int, float)}


def unknown_in(definitions, schema, value, path):
    while "$ref" in schema:
        schema = definitions[schema["$ref"].rpartition("/")[2]]
    if schema.get("format") in ("int-or-string", "quantity") or value is None:
        return
    kind = schema.get("type")
    if kind and not isinstance(value, JSON_TYPES[kind]):
        # A quantity is a string in the schema and may be a number.
        if not (kind == "string" and isinstance(value, int)):
            yield f"{path} is no {kind}"
        return
    if isinstance(value, dict):
        for name, each in value.items():
            inner = schema.get("properties", {}).get(name) or schema.get("additionalProperties")
            if inner is None and "properties" in schema:
                yield f"{path}.{name}"
            elif inner:
                yield from unknown_in(definitions, inner, each, f"{path}.{name}")
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from unknown_in(definitions, schema.get("items", {}), each, f"{path}[{index}]")


class Runner:
    def __init__(self, names):
        self._names = names
        self.results = []

    def run(self, cluster):
        for name in self._names:
            self.results.append(self._run(cluster, name))
            (RESULTS / "results.json").write_text(json.dumps({
                "kubernetes": cluster.version(), "nodes": len(cluster.nodes), "results": self.results}, indent=2))
        failed = [result["test"] for result in self.results if result["result"] == "failed"]
        print(f"kubernetes: {len(self.results) - len(failed)} of {len(self.results)} without a fault"
              + (f"; failed: {' '.join(failed)}" if failed else ""))
        return 1 if failed else 0

    def _run(self, cluster, name):
        begun = time.monotonic()
        result = {"test": name, "shows": TESTS[name].__doc__, "result": "passed"}
        place = None
        try:
            place = Place(cluster, name, **getattr(TESTS[name], "labels", {}))
            TESTS[name](place)
        except LeftOut as reason:
            result.update(result="left out", reason=str(reason))
        except (Failed, rack.CannotStart, subprocess.TimeoutExpired, OSError, ValueError, KeyError, IndexError) as failure:
            result.update(result="failed", reason=str(failure))
            (RESULTS / f"{name}.failed.txt").write_text(traceback.format_exc() + state_of(place))
        result["seconds"] = round(time.monotonic() - begun, 1)
        if place:
            result.update(place.figures)
            cluster.kubectl("delete", "namespace", name, "--wait=false")
        figures = {key: value for key, value in result.items() if key not in ("test", "shows", "result", "reason", "seconds")}
        print(f"{result['result']:8} {name} ({result['seconds']} s)"
              + (f": {result['reason'][:600]}" if "reason" in result else "") + (f" {json.dumps(figures)}" if figures else ""), flush=True)
        return result


def state_of(place):
    if place is None:
        return ""
    said = []
    for words in (["get", "all", "-o", "wide"], ["get", "events"], ["describe", "pods"],
                  ["logs", "--all-containers", "--prefix", "-l", "app.kubernetes.io/name=railhead", "--tail=60"]):
        with contextlib.suppress(Failed):
            said.append(place.kubectl(*words))
    return "\n\n".join(said)


def shell(cluster, words):
    environment = {**os.environ, "RAILHEAD_STORE": cluster.store, "AWS_ACCESS_KEY_ID": STORE_KEYS[0],
                   "AWS_SECRET_ACCESS_KEY": STORE_KEYS[1]}
    return subprocess.run(["bash", "-c", " ".join(words)], env=environment, check=False).returncode


def main():
    words = sys.argv[1:]
    if words == ["--list"]:
        for name, function in TESTS.items():
            print(f"{name:24} {function.__doc__}")
        return 0
    if words[0] == "--known":
        unknown = [name for name in words[1:] if name not in TESTS and name != "all"]
        if unknown:
            print(f"kubernetes: no such test: {' '.join(unknown)}; --list has them", file=sys.stderr)
        return 1 if unknown else 0
    RESULTS.mkdir(parents=True, exist_ok=True)
    folder = os.environ["RAILHEAD_CLUSTER_FOLDER"]
    status = 1
    try:
        with Cluster(folder, os.environ["RAILHEAD_CLUSTER_PROGRAMS"], os.environ["RAILHEAD_CLUSTER_IMAGE"],
                     os.environ["RAILHEAD_CLUSTER_BEFORE"]) as cluster:
            store = S3(cluster.store, STORE_KEYS)
            store.request("PUT", f"/{BUCKET}")
            seed(store, BUCKET)
            if words[0] == "--":
                return shell(cluster, words[1:])
            status = Runner(list(TESTS) if words == ["all"] else words).run(cluster)
    except CannotStart as problem:
        print(f"kubernetes: {problem}", file=sys.stderr)
    if status:
        keep_logs(Path(folder))
    return status


def keep_logs(folder):
    for log in folder.glob("*.log"):
        (RESULTS / log.name).write_bytes(log.read_bytes()[-200_000:])


if __name__ == "__main__":
    sys.exit(main())

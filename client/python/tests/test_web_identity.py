"""A program without keys: a token of an issuer's is exchanged at the gateway, and again before the credentials end."""

import base64
import json
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import botocore.session
import pytest
import rack
from conftest import KEYS, Rack, content, start

import railhead

ISSUER = "https://issuer.test"
DATA = content(100_000, 34)
PATIENCE = 30


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Issuer:
    """Of tokens, which it signs by openssl; its keys are a file."""

    def __init__(self, folder: Path) -> None:
        self._key = folder / "issuer.pem"
        self.keys = folder / "issuer.json"
        subprocess.run(["openssl", "genrsa", "-out", self._key, "2048"], check=True, capture_output=True)
        modulus = subprocess.run(["openssl", "rsa", "-in", self._key, "-noout", "-modulus"], check=True,
                                 capture_output=True, text=True).stdout.strip().partition("=")[2]
        self.keys.write_text(json.dumps({"keys": [
            {"kty": "RSA", "kid": "1", "alg": "RS256", "use": "sig", "n": _text(bytes.fromhex(modulus)), "e": "AQAB"}]}))

    def token(self, namespace: str) -> str:
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": ["railhead"], "sub": f"system:serviceaccount:{namespace}:train", "iat": now,
                  "exp": now + 3600, "kubernetes.io": {"namespace": namespace}}
        parts = [_text(json.dumps(part).encode()) for part in ({"alg": "RS256", "kid": "1"}, claims)]
        signature = subprocess.run(["openssl", "dgst", "-sha256", "-sign", self._key], input=".".join(parts).encode(),
                                   check=True, capture_output=True).stdout
        return ".".join([*parts, _text(signature)])


def write_credentials(folder: Path, **more: object) -> None:
    """The principals that are there, and a role for those of the namespace ml-a."""
    file = folder / "credentials.yaml"
    principals = json.loads(file.read_text())["principals"]
    role = {"name": "pods", "issuer": ISSUER, "claims": {"kubernetes.io/namespace": "ml-a"}, "rdma_put": True,
            "backend_credential": {"access_key": KEYS.access_key, "secret_key": KEYS.secret_key}}
    file.write_text(json.dumps({"principals": principals, "roles": [role], **more}))


@pytest.fixture(scope="module")
def pods(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Rack, Issuer]]:
    if os.environ.get("RAILHEAD_NO_GATEWAY"):
        pytest.skip("no gateway: ./railhead is not built")
    if not shutil.which("openssl"):
        pytest.skip("no openssl to sign tokens with")
    folder = tmp_path_factory.mktemp("pods")
    issuer = Issuer(folder)
    try:
        with rack.Processes(folder) as processes:
            made = start(folder, processes, gateway={"web_identity": {"issuers": [
                {"issuer": ISSUER, "audiences": ["railhead"], "jwks_file": str(issuer.keys)}]}})
            write_credentials(folder)
            yield made, issuer
    except rack.CannotStart as reason:
        pytest.skip(f"no gateway: {reason}")


@pytest.fixture
def pod(pods: tuple[Rack, Issuer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rack:
    """What a pod has in place of keys."""
    running, issuer = pods
    token = tmp_path / "token"
    token.write_text(issuer.token("ml-a"))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {
            "AWS_ENDPOINT_URL": running.endpoint, "AWS_ENDPOINT_URL_STS": running.endpoint, "AWS_REGION": "us-east-1",
            "AWS_ROLE_ARN": "arn:aws:iam::000000000000:role/pods", "AWS_WEB_IDENTITY_TOKEN_FILE": str(token),
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_CONFIG_FILE": os.devnull,
            "AWS_EC2_METADATA_DISABLED": "true"}.items():
        monkeypatch.setenv(name, value)
    end = time.monotonic() + PATIENCE
    while True:  # until the gateway has read the roles
        try:
            with railhead.Client(fabric="http") as client:
                client.put_from("s3://data/object", DATA)
            return running
        except railhead.RailheadError:
            assert time.monotonic() < end
            time.sleep(0.2)


@pytest.mark.parametrize("fabric", ["http", "loopback"])
def test_no_key_is_needed(pod: Rack, fabric: str) -> None:
    with railhead.Client(fabric=fabric) as client:
        assert client.get("s3://data/object") == DATA
        assert client.via.startswith(fabric)


def test_another_namespace_is_refused(pod: Rack, pods: tuple[Rack, Issuer], tmp_path: Path) -> None:
    (tmp_path / "token").write_text(pods[1].token("ml-b"))
    for fabric in "http", "loopback":
        with railhead.Client(fabric=fabric) as client, pytest.raises(railhead.AccessDenied, match="does not satisfy"):
            client.get("s3://data/object")


def test_renewed_credentials_open_another_session_before_the_old_ones_end(pod: Rack) -> None:
    with railhead.Client(fabric="loopback") as client:
        buffer = client.buffer(len(DATA))
        client.get_into("s3://data/object", buffer)
        paths = client._paths
        session, before = paths._session, paths.settings.credentials()
        assert session is not None
        client.get_into("s3://data/object", buffer)
        assert paths._session is session
        paths._renew_at = 0
        client.get_into("s3://data/object", buffer)
        assert paths._session is session, "they are the same"
        paths.settings.account.begin_again(paths.settings.account.session)
        paths._renew_at = 0
        buffer[:] = bytes(len(DATA))
        assert client.put_from("s3://data/other", DATA).via == "loopback"
        assert client.get_into("s3://data/object", buffer).via == "loopback"
        assert buffer == DATA
        assert session.is_open()
        assert paths._session is not session
        assert paths._session is not None
        assert paths._session.credentials == paths.settings.credentials() != before


def test_revoked_credentials_are_replaced_and_no_read_fails(pod: Rack, pods: tuple[Rack, Issuer]) -> None:
    folder = pods[0].folder
    with railhead.Client(fabric="loopback") as client:
        old = client._paths.settings.credentials()
        reads, failures, stop = [0], [], threading.Event()

        def read() -> None:
            buffer = client.buffer(len(DATA))
            try:
                while not stop.is_set():
                    client.get_many([("s3://data/object", buffer)] * 4)
                    assert buffer == DATA
                    assert client.get("s3://data/object") == DATA
                    reads[0] += 1
            except BaseException as error:
                failures.append(error)

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        now = datetime.now(timezone.utc).isoformat().replace("+00:00", "Z")
        write_credentials(folder, revoked=[{"role": "pods", "issued_before": now}])
        s3 = botocore.session.Session().create_client(
            "s3", endpoint_url=pods[0].endpoint, region_name="us-east-1", aws_access_key_id=old.access_key,
            aws_secret_access_key=old.secret_key, aws_session_token=old.session_token)
        end = time.monotonic() + PATIENCE
        while True:
            try:
                s3.head_bucket(Bucket="data")
            except botocore.exceptions.ClientError:
                break
            assert time.monotonic() < end, "they are not revoked"
            time.sleep(0.2)
        after = reads[0]
        while reads[0] < after + 20 and not failures:
            assert time.monotonic() < end
            time.sleep(0.01)
        stop.set()
        for reader in readers:
            reader.join(PATIENCE)
        assert not failures, failures
        assert client._paths._session is not None
        assert client._paths._session.credentials != old
        with pytest.raises(botocore.exceptions.ClientError):
            s3.head_bucket(Bucket="data")

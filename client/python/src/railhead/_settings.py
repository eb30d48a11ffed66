"""Where the gateway is and who asks: what a program names, else the environment and the files of AWS's tools."""

from __future__ import annotations

import hashlib
import os
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import botocore.session
from botocore.exceptions import BotoCoreError

from railhead import errors

FABRICS = ("auto", "verbs", "loopback", "http")
PUT_BYTES = 16 << 20  # of one PUT at most, which goes through the ring in one piece
_MOST_SECONDS = 1 << 22  # the library's milliseconds have 32 bits
MOST_IN_FLIGHT = 4096   # no gateway takes as many of one session
_MARKS = os.urandom(16)


@dataclass(frozen=True)
class Credentials:
    """As a text, secrets are a mark of this process's: fsspec takes options whose texts are the same for the same."""

    access_key: str
    secret_key: str
    session_token: str | None = None

    def __repr__(self) -> str:
        secrets = repr((self.secret_key, self.session_token)).encode()
        return f"Credentials({self.access_key!r}, {hashlib.blake2b(secrets, key=_MARKS, digest_size=8).hexdigest()})"


@dataclass(frozen=True)
class Settings:
    """What a client was made with, complete. `aws` is botocore's session: it knows keys that change."""

    endpoint: str
    region: str
    fabric: str
    ca: str | None
    deadline: float
    in_flight: int
    ring: int
    named: Credentials | None
    aws: Any = field(repr=False, compare=False)

    def credentials(self) -> Credentials:
        """Those of now: temporary ones are renewed by botocore."""
        if self.named:
            return self.named
        try:
            found = self.aws.get_credentials()
            frozen = found and found.get_frozen_credentials()
        except BotoCoreError as error:
            raise errors.RailheadError(str(error)) from error
        if frozen is None:
            raise ValueError("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token)


def settle(endpoint: str | None, fabric: str, region: str | None, profile: str | None, credentials: Credentials | None,
           ca: str | None, deadline: float, in_flight: int, ring: int) -> Settings:
    if fabric not in FABRICS:
        raise ValueError(f"no such fabric: {fabric!r}; {', '.join(FABRICS)}")
    if not (0 < deadline < _MOST_SECONDS and 0 < in_flight <= MOST_IN_FLIGHT and ring >= PUT_BYTES):
        raise ValueError(f"deadline and in_flight are more than 0, deadline less than {_MOST_SECONDS}, "
                         f"in_flight at most {MOST_IN_FLIGHT}, ring at least 16 MiB")
    try:
        aws = botocore.session.Session(profile=profile)
        return Settings(
            endpoint=_endpoint(endpoint, aws), fabric=fabric,
            ca=ca or aws.get_config_variable("ca_bundle") or os.environ.get("REQUESTS_CA_BUNDLE") or _system_ca(),
            region=region or os.environ.get("AWS_REGION") or aws.get_config_variable("region") or "us-east-1",
            deadline=deadline, in_flight=in_flight, ring=ring, named=credentials, aws=aws)
    except BotoCoreError as error:
        raise ValueError(str(error)) from error


def _system_ca() -> str | None:
    """OpenSSL's file, else the distributions'; where there is none, botocore has its own."""
    files = (ssl.get_default_verify_paths().cafile, "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
    return next((file for file in files if file and Path(file).exists()), None)


def _endpoint(named: str | None, aws: Any) -> str:
    variables = ("RAILHEAD_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    found = named or next(filter(None, map(os.environ.get, variables)), None) or aws.get_scoped_config().get("endpoint_url")
    if not found:
        raise ValueError("no gateway: set RAILHEAD_ENDPOINT (or AWS_ENDPOINT_URL) to its S3 endpoint")
    found = found.rstrip("/")
    parts = urlsplit(found)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path or parts.query or parts.username:
        raise ValueError(f"not an endpoint (http://HOST[:PORT] or https://HOST[:PORT]): {found}")
    return found


def split(url: str, *, with_key: bool = True) -> tuple[str, str]:
    """Bucket and key of s3://bucket/key or railhead://bucket/key."""
    if not isinstance(url, str):
        raise TypeError(f"not a URL: {url!r}")
    scheme, mark, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    if not mark or scheme not in ("s3", "railhead") or not bucket or "\0" in rest or (with_key and not key):
        raise ValueError(f"not s3://BUCKET/KEY or railhead://BUCKET/KEY: {url!r}")
    return bucket, key

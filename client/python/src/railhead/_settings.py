"""Where the gateway is and who asks: what a program names, else the environment and the files of AWS's tools."""

from __future__ import annotations

import hashlib
import os
import ssl
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

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
class Fallback:
    """A store that reads go to while the gateway is gone, with credentials of its own: these, or a profile's."""

    endpoint: str
    credentials: Credentials | None = None
    profile: str | None = None
    region: str | None = None
    ca: str | os.PathLike[str] | None = None


class Account:
    """Whose credentials AWS's tools would find, by botocore's session, which renews temporary ones before they end."""

    def __init__(self, profile: str | None) -> None:
        self._profile = profile
        self._lock = threading.Lock()
        self.session: Any = botocore.session.Session(profile=profile)

    def begin_again(self, seen: Any) -> None:
        """Another session in place of `seen`: botocore keeps credentials until they end, whoever has revoked them."""
        with self._lock:
            if self.session is seen:
                self.session = botocore.session.Session(profile=self._profile)


@dataclass(frozen=True)
class Settings:
    """What a client was made with, complete."""

    endpoint: str
    region: str
    fabric: str
    ca: str | None
    deadline: float
    in_flight: int
    ring: int
    named: Credentials | None
    account: Account = field(repr=False, compare=False)
    fallback: Settings | None = None

    @property
    def are_renewed(self) -> bool:
        """Whether credentials end, and others come in their place."""
        return self.named is None and hasattr(self.account.session.get_credentials(), "refresh_needed")

    def credentials(self) -> Credentials:
        """Those of now: temporary ones are renewed by botocore."""
        if self.named:
            return self.named
        try:
            found = self.account.session.get_credentials()
            frozen = found and found.get_frozen_credentials()
        except ClientError as error:  # of who exchanges a token for them
            said, meta = error.response.get("Error", {}), error.response.get("ResponseMetadata", {})
            raise errors.of_store(meta.get("HTTPStatusCode", 0), said.get("Code", ""), said.get("Message", ""), "") from error
        except BotoCoreError as error:
            raise errors.RailheadError(str(error)) from error
        if frozen is None:
            raise ValueError("no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token)


def settle(endpoint: str | None, fabric: str, region: str | None, profile: str | None, credentials: Credentials | None,
           ca: str | os.PathLike[str] | None, deadline: float, in_flight: int, ring: int,
           fallback: Fallback | None = None) -> Settings:
    made = _settled(endpoint, fabric, region, profile, credentials, ca, deadline, in_flight, ring)
    store = fallback or _fallback_of_environment()
    return made if store is None else replace(made, fallback=_of_fallback(store, made))


def _settled(endpoint: str | None, fabric: str, region: str | None, profile: str | None, credentials: Credentials | None,
             ca: str | os.PathLike[str] | None, deadline: float, in_flight: int, ring: int) -> Settings:
    if fabric not in FABRICS:
        raise ValueError(f"no such fabric: {fabric!r}; {', '.join(FABRICS)}")
    if not (0 < deadline < _MOST_SECONDS and 0 < in_flight <= MOST_IN_FLIGHT and ring >= PUT_BYTES):
        raise ValueError(f"deadline and in_flight are more than 0, deadline less than {_MOST_SECONDS}, "
                         f"in_flight at most {MOST_IN_FLIGHT}, ring at least 16 MiB")
    try:
        account = Account(profile)
        aws = account.session
        found = _endpoint(endpoint, aws)
        return Settings(
            endpoint=found, fabric=fabric, ca=_authorities(ca, aws, found),
            region=region or os.environ.get("AWS_REGION") or aws.get_config_variable("region") or "us-east-1",
            deadline=deadline, in_flight=in_flight, ring=ring, named=credentials, account=account)
    except BotoCoreError as error:
        raise ValueError(str(error)) from error


def _fallback_of_environment() -> Fallback | None:
    endpoint = os.environ.get("RAILHEAD_FALLBACK_ENDPOINT")
    return Fallback(endpoint, profile=os.environ.get("RAILHEAD_FALLBACK_PROFILE")) if endpoint else None


def _of_fallback(named: Fallback, gateway: Settings) -> Settings:
    """The gateway's keys are not the store's, which would be told who asks by them."""
    if not named.endpoint or not (named.credentials or named.profile):
        raise ValueError("a fallback has an endpoint, and credentials or a profile of its own "
                         "(RAILHEAD_FALLBACK_ENDPOINT and RAILHEAD_FALLBACK_PROFILE)")
    checked_endpoint("the fallback", named.endpoint)
    return _settled(named.endpoint, "http", named.region or gateway.region, named.profile, named.credentials, named.ca,
                    gateway.deadline, gateway.in_flight, gateway.ring)


def _authorities(named: str | os.PathLike[str] | None, aws: Any, endpoint: str) -> str | None:
    """A file that can be used, where one is named; what nobody needs is not looked at, unless the program names it."""
    sources = (("ca", named), ("AWS_CA_BUNDLE or ca_bundle", aws.get_config_variable("ca_bundle")),
               ("REQUESTS_CA_BUNDLE", os.environ.get("REQUESTS_CA_BUNDLE")))
    source, value = next(((source, value) for source, value in sources if value), ("", None))
    if value is None:
        return _system_ca()
    file = os.fspath(value)
    if named or endpoint.startswith("https:"):
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
        except ssl.SSLError as error:
            raise ValueError(f"{source}: {file} has no certificates: {error.reason or error}") from error
        except OSError as error:
            raise ValueError(f"{source}: {file}: {error.strerror}") from error
    return file


def _system_ca() -> str | None:
    """OpenSSL's file, else the distributions'; where there is none, botocore has its own."""
    files = (ssl.get_default_verify_paths().cafile, "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt")
    return next((file for file in files if file and Path(file).exists()), None)


def _endpoint(named: str | None, aws: Any) -> str:
    variables = ("RAILHEAD_ENDPOINT", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
    sources = [("endpoint", named), *((name, os.environ.get(name)) for name in variables),
               ("endpoint_url", _configured_endpoint(aws))]
    for source, found in sources:
        if found:
            return checked_endpoint(source, found)
    raise ValueError("no gateway: set RAILHEAD_ENDPOINT (or AWS_ENDPOINT_URL) to its S3 endpoint")


def _configured_endpoint(aws: Any) -> str | None:
    """That of S3 in the services section that the profile names goes before the profile's own."""
    profile = aws.get_scoped_config()
    services = aws.full_config.get("services", {}).get(profile.get("services"), {}).get("s3", {})
    own = services.get("endpoint_url") if isinstance(services, dict) else None
    found: str | None = own or profile.get("endpoint_url")
    return found


def checked_endpoint(source: str, text: str) -> str:
    """Without slashes at its end. `source` is who names it."""
    found = text.rstrip("/")
    if found and "://" not in text and not any(mark in found for mark in "/?#@ "):
        raise ValueError(f"{source} has no scheme: {text}; write http://{found}")
    try:
        parts = urlsplit(found)
        is_one = (parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and not parts.path
                  and not parts.query and not parts.fragment and parts.username is None)
    except ValueError:
        is_one = False
    if not is_one:
        raise ValueError(f"{source} is not an endpoint (http://HOST[:PORT] or https://HOST[:PORT]): {text}")
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

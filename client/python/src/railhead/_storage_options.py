"""The filesystem's options: the client's own, and s3fs's where they ask for what is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from railhead._settings import Credentials
from railhead.client import Client

_CLIENT = ("endpoint", "fabric", "region", "profile", "credentials", "ca", "deadline", "in_flight", "ring",
           "fallback")
# Options of s3fs's that are taken where they ask for nothing: None, or one of these.
_OF_S3FS: dict[str, tuple[Any, ...]] = {
    "anon": (False,), "requester_pays": (False,), "version_aware": (False,), "cache_regions": (False,), "session": (),
    "default_fill_cache": (True, False), "fixed_upload_size": (True, False)}
# Settings of botocore's that are as the client has them anyway.
_OF_BOTOCORE: dict[str, tuple[Any, ...]] = {
    "signature_version": ("s3v4",), "request_checksum_calculation": ("when_required",),
    "response_checksum_validation": ("when_required",), "use_dualstack_endpoint": (False,), "use_fips_endpoint": (False,),
    "parameter_validation": (True,), "disable_request_compression": (True,)}
_OF_BOTOCORES_S3: dict[str, tuple[Any, ...]] = {
    "addressing_style": ("path", "auto"), "use_accelerate_endpoint": (False,), "payload_signing_enabled": (False,),
    "use_dualstack_endpoint": (False,)}
_HINTS = ("max_concurrency", "max_pool_connections")  # in_flight says how many requests are under way


def client_of(options: dict[str, Any]) -> Client:
    use_ssl, verify = options.pop("use_ssl", None), options.pop("verify", None)
    named = _client_options(options)
    if isinstance(verify, str):
        named.setdefault("ca", verify)
    client = Client(**named)
    endpoint = client._settings.endpoint
    if use_ssl is not None and use_ssl != endpoint.startswith("https://"):
        raise ValueError(f"use_ssl={use_ssl}, but the endpoint is {endpoint}")
    if verify is False and endpoint.startswith("https://"):
        raise ValueError(f"verify=False: a certificate is always checked; name its issuer by ca, for {endpoint}")
    return client


def with_client_kwargs(options: Mapping[str, Any]) -> dict[str, Any]:
    named = {**options, **(options.get("client_kwargs") or {})}
    named.pop("client_kwargs", None)
    return named


def _client_options(options: Mapping[str, Any]) -> dict[str, Any]:
    named = dict(options)
    key, secret, token = (named.pop(name, None) for name in ("key", "secret", "token"))
    if key and secret:
        named["credentials"] = Credentials(key, secret, token)
    for theirs, ours in (("endpoint_url", "endpoint"), ("region_name", "region")):
        if theirs in named:
            named[ours] = named.pop(theirs)
    named = {**_of_config("config_kwargs", named.pop("config_kwargs", None) or {}), **named}
    _check("", {name: named.pop(name, None) for name in _OF_S3FS}, _OF_S3FS)
    for name in _HINTS:
        _count(name, named.pop(name, None))
    unknown = set(named) - set(_CLIENT)
    if unknown:
        raise ValueError(f"no such option: {', '.join(sorted(unknown))}")
    return named


def _of_config(where: str, config: Mapping[str, Any]) -> dict[str, Any]:
    """Of botocore's Config what the client can be told."""
    left = dict(config)
    named = {ours: left.pop(theirs) for theirs, ours in (("region_name", "region"), ("read_timeout", "deadline"))
             if theirs in left}
    for name in _HINTS:
        _count(name, left.pop(name, None))
    _check(f"{where}.s3.", left.pop("s3", None) or {}, _OF_BOTOCORES_S3)
    _check(f"{where}.", left, _OF_BOTOCORE)
    return named


def _check(where: str, options: Mapping[str, Any], known: Mapping[str, tuple[Any, ...]]) -> None:
    for name, value in options.items():
        if value is not None and value not in known.get(name, ()):
            raise ValueError(f"what the option {where}{name} asks for is not done here: {value!r}")


def _count(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, int) or value < 1):
        raise ValueError(f"{name} is a count: {value!r}")

"""Options of single calls, as S3's API and botocore name them. An option that is not named here is refused, never dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Reads, writes, parts and copies take these alike.
_EVERYWHERE = frozenset({"SSECustomerAlgorithm", "SSECustomerKey", "SSECustomerKeyMD5", "RequestPayer", "ExpectedBucketOwner"})
_HEADERS = frozenset({"CacheControl", "ContentDisposition", "ContentEncoding", "ContentLanguage", "Expires",
                      "WebsiteRedirectLocation"})
_STORED = _EVERYWHERE | _HEADERS | {
    "ACL", "BucketKeyEnabled", "GrantFullControl", "GrantRead", "GrantReadACP", "GrantWriteACP", "ObjectLockLegalHoldStatus",
    "ObjectLockMode", "ObjectLockRetainUntilDate", "SSEKMSEncryptionContext", "SSEKMSKeyId", "ServerSideEncryption",
    "StorageClass", "Tagging"}
_COPIED = {"MetadataDirective", "TaggingDirective", "CopySourceSSECustomerAlgorithm", "CopySourceSSECustomerKey",
           "CopySourceSSECustomerKeyMD5", "ExpectedSourceBucketOwner"}
# Of s3fs and fsspec, about how a transfer is cut, and how much of it goes at a time: the client decides that.
_HINTS = ("batch_size", "chunksize", "max_concurrency")

PART_BYTES = 8 << 20  # at least: S3 takes no part of less than 5 MiB, the last excepted
_PARTS_OF_A_SIZE = 1000


def part_bytes(sent: int) -> int:
    """The size of the next part where nobody knows the whole: it grows, because an upload has 10 000 parts at most."""
    return PART_BYTES << min(sent // _PARTS_OF_A_SIZE, 10)


@dataclass(frozen=True)
class ReadOptions:
    """Over HTTP alone: the native channel serves the newest version, and has no field for the others."""

    version_id: str | None = None
    others: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.version_id == "":
            raise ValueError("a version_id has at least one character; None is the newest version")

    def arguments(self) -> dict[str, Any]:
        return {"VersionId": self.version_id, **self.others}


NEWEST = ReadOptions()


def of_version(version_id: str | None) -> ReadOptions:
    return NEWEST if version_id is None else ReadOptions(version_id)


@dataclass(frozen=True)
class PutOptions:
    """What is stored with an object. `others` go over HTTP alone: the native channel has no field for them."""

    content_type: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    if_none_match: bool = False
    others: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _refuse(self.others, _STORED)
        # Others a store mangles, each in its own way, and botocore refuses.
        if any(not text.isascii() or mark in text for line in self.headers().items() for text in line for mark in "\r\n\0"):
            raise ValueError("content type and metadata are one line of ASCII each")

    def headers(self) -> dict[str, str]:
        """As the native channel has them."""
        lines = {f"x-amz-meta-{name.lower()}": value for name, value in self.metadata.items()}
        return {**lines, "content-type": self.content_type} if self.content_type else lines

    def arguments(self) -> dict[str, Any]:
        """Of the request that creates the object, or its upload."""
        return {"ContentType": self.content_type, "Metadata": {name.lower(): value for name, value in self.metadata.items()},
                **self.others}

    def of_parts(self) -> dict[str, Any]:
        return {name: value for name, value in self.others.items() if name in _EVERYWHERE}


def _refuse(options: Mapping[str, Any], known: frozenset[str]) -> None:
    unknown = sorted(set(options) - known)
    if unknown:
        raise ValueError(f"no such option of this call: {', '.join(unknown)}")


def refuse_all(options: Mapping[str, Any]) -> None:
    _refuse(_given(options), frozenset())


def _given(options: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None and name not in _HINTS}


def for_read(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> ReadOptions:
    """Of `defaults` those that a read takes."""
    given = _given(options)
    versions = {str(given.pop(name)) for name in ("version_id", "VersionId") if name in given}
    if len(versions) > 1:
        raise ValueError("version_id and VersionId are not the same")
    _refuse(given, _EVERYWHERE)
    others = {**_of(defaults, _EVERYWHERE), **given}
    return ReadOptions(next(iter(versions), None), others) if versions or others else NEWEST


def for_put(options: Mapping[str, Any], defaults: Mapping[str, Any], *, if_none_match: bool = False) -> PutOptions:
    """Of s3fs's `acl`, too, and of its hints."""
    given = {**defaults, **_given(options)}
    acl = given.pop("acl", None)
    if acl:
        given["ACL"] = acl
    return PutOptions(given.pop("ContentType", None), given.pop("Metadata", None) or {}, if_none_match, given)


def for_copy(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """A store takes an option for new metadata or tags only if it is told that the source's are replaced."""
    given = _given(options)
    acl = given.pop("acl", None)
    if acl:
        given["ACL"] = acl
    of_object = _HEADERS | {"ContentType", "Metadata"}
    _refuse(given, frozenset(_STORED | _COPIED | of_object))
    if of_object & set(given):
        given.setdefault("MetadataDirective", "REPLACE")
    if "Tagging" in given:
        given.setdefault("TaggingDirective", "REPLACE")
    return {**_of(defaults, frozenset(_STORED - _HEADERS)), **given}


def _of(options: Mapping[str, Any], known: frozenset[str]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name in known}


def of_every_part(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of a copy's options those that each of its parts takes."""
    return _of(options, _EVERYWHERE | {each for each in _COPIED if "Directive" not in each})


def of_source(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of a copy's options those that a read of its source takes, as that names them."""
    prefix = "CopySource"
    named = {name.removeprefix(prefix): value for name, value in options.items() if name.startswith(prefix)}
    if "ExpectedSourceBucketOwner" in options:
        named["ExpectedBucketOwner"] = options["ExpectedSourceBucketOwner"]
    return named


def of_target(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of a copy's options those that say how the new object is stored."""
    return _of(options, _STORED | {"ContentType", "Metadata"})


def kept_of(head: Mapping[str, Any]) -> dict[str, Any]:
    """What another object is stored with, of botocore's answer to HEAD, for one that takes its place."""
    names = _HEADERS | {"ContentType", "Metadata", "StorageClass", "ServerSideEncryption", "SSEKMSKeyId", "BucketKeyEnabled"}
    return {name: value for name, value in head.items() if name in names and value}

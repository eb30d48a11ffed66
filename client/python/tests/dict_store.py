"""A store in memory, as far as blocks need one: objects are written once where that is asked, and counted."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from conftest import Request


class DictStore:
    """The script of a ScriptedStore. `broken`: it refuses everything, or what ends in one of `broken_names`."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.broken = False
        self.broken_names: tuple[str, ...] = ()

    def __call__(self, request: Request) -> None:
        parts = urlsplit(request.path)
        name = unquote(parts.path)
        if self.broken or name.endswith(self.broken_names):
            request.answer(403, b"" if request.command == "HEAD" else b"<Error><Code>AccessDenied</Code></Error>")
        elif request.command == "POST":
            self._delete(request, name)
        elif "list-type" in parts.query:
            self._list(request, name, parts.query)
        elif request.command == "DELETE":
            self.objects.pop(name, None)
            request.answer(204)
        elif request.command == "PUT":
            self._put(request, name)
        else:
            self._read(request, name)

    def _put(self, request: Request, name: str) -> None:
        if name in self.objects and request.headers.get("If-None-Match") == "*":
            request.answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
        else:
            self.objects[name] = request.body
            request.answer()

    def _read(self, request: Request, name: str) -> None:
        body = self.objects.get(name)
        if body is None:
            request.answer(404, b"" if request.command == "HEAD" else b"<Error><Code>NoSuchKey</Code></Error>")
        elif request.command == "HEAD":
            request.answer(200, b"", Content_Length=str(len(body)), Last_Modified="Wed, 12 Oct 2022 17:50:00 GMT")
        else:
            self._range(request, body)

    def _range(self, request: Request, body: bytes) -> None:
        found = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", ""))
        modified = {"Last_Modified": "Wed, 12 Oct 2022 17:50:00 GMT"}
        if not found:
            request.answer(200, body, **modified)
            return
        first, last = int(found[1]), min(int(found[2]), len(body) - 1)
        if first >= len(body):
            request.answer(416, b"<Error><Code>InvalidRange</Code></Error>")
        else:
            request.answer(206, body[first:last + 1], Content_Range=f"bytes {first}-{last}/{len(body)}", **modified)

    def _delete(self, request: Request, bucket: str) -> None:
        for key in re.findall(r"<Key>(.*?)</Key>", request.body.decode()):
            self.objects.pop(f"{bucket.rstrip('/')}/{key}", None)
        request.answer(body=b"<DeleteResult></DeleteResult>")

    def _list(self, request: Request, bucket: str, query: str) -> None:
        found = re.search(r"(?:^|&)prefix=([^&]*)", query)
        start = f"{bucket.rstrip('/')}/{unquote(found[1]) if found else ''}"
        held = "".join(f"<Contents><Key>{name[len(bucket.rstrip('/')) + 1:]}</Key><Size>1</Size><ETag>e</ETag>"
                       "<LastModified>2022-10-12T17:50:00.000Z</LastModified></Contents>"
                       for name in sorted(self.objects) if name.startswith(start))
        request.answer(body=f"<ListBucketResult><IsTruncated>false</IsTruncated>{held}</ListBucketResult>".encode())

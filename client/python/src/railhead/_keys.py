"""Many keys of one bucket in few requests: how they are packed, and the call that asks about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from railhead import _native, errors
from railhead._jobs import NOTHING, Job, Piece
from railhead._options import NEWEST
from railhead._session import MOST_OF_A_BATCH, Batch, Box, Completions, Outcome, Session, Stale
from railhead._settings import split
from railhead._transfer import Steps, Transfer

if TYPE_CHECKING:
    from railhead._paths import Paths

_MOST_KEYS = 1024          # of one request
_MOST_HASH_BYTES = 64
_REQUEST_BYTES = 4088      # of a message behind its header
_FIXED_BYTES = 64 + 4 + 7  # of a request: the record, the count and hash bytes, the padding
_BITS = [tuple(bool(byte >> bit & 1) for bit in range(8)) for byte in range(256)]
_HEADER = "x-railhead-keys: "


class Block(NamedTuple):
    """The keys of one request: those from `first` on, packed behind the prefix that they share."""

    first: int
    keys: int
    prefix: bytes
    hash_bytes: int
    packed: bytes


def blocks(bucket: str, prefix: str, keys: Sequence[str]) -> list[Block]:
    """
    Keys in as few requests as have room for them. Keys of one length that differ only in lower-case hexadecimal digits travel as
    bytes, which takes half the room; the digits that all of them share, and all other text before them, is sent once.
    """
    if not keys:
        return []
    if not all(keys):
        raise ValueError("a key is empty")
    shared = _shared(keys) if len(keys) > 1 else 0
    hashes = _hashes(keys, shared)
    if hashes is not None:
        start, width, packed = hashes
        whole = (prefix + keys[0][:start]).encode()
        per = min(_MOST_KEYS, _room(bucket, whole) // width)
        if per > 0:
            return [Block(at, min(per, len(keys) - at), whole, width, packed[at * width:(at + per) * width])
                    for at in range(0, len(keys), per)]
    return list(_texts(bucket, (prefix + keys[0][:shared]).encode(), [key[shared:].encode() for key in keys]))


def _shared(keys: Sequence[str]) -> int:
    """How many characters all keys begin with: as many as the first and the last in order."""
    least, most = min(keys), max(keys)
    differing = (at for at, (one, other) in enumerate(zip(least, most, strict=False)) if one != other)
    return next(differing, min(len(least), len(most)))


def _room(bucket: str, prefix: bytes) -> int:
    return _REQUEST_BYTES - _FIXED_BYTES - len(bucket.encode()) - len(prefix)


def _hashes(keys: Sequence[str], shared: int) -> tuple[int, int, bytes] | None:
    """Where the hashes begin, how many bytes each has, and all of them; None where the keys do not end so."""
    length = len(keys[0])
    if any(len(key) != length for key in keys):
        return None
    start = shared - (length - shared) % 2
    width = (length - start) // 2
    if start < 0 or not 0 < width <= _MOST_HASH_BYTES:
        return None
    digits = "".join([key[start:] for key in keys])
    try:
        packed = bytes.fromhex(digits)
    except ValueError:
        return None
    return (start, width, packed) if packed.hex() == digits else None


def _texts(bucket: str, prefix: bytes, rests: list[bytes]) -> Iterator[Block]:
    room = _room(bucket, prefix)
    first, packed = 0, bytearray()
    for at, rest in enumerate(rests):
        if len(rest) + 2 > room:
            raise ValueError(f"a key is too long: {len(prefix) + len(rest)} bytes")
        if len(packed) + 2 + len(rest) > room or at - first == _MOST_KEYS:
            yield Block(first, at - first, prefix, 0, bytes(packed))
            first, packed = at, bytearray()
        packed += len(rest).to_bytes(2, "little") + rest
    yield Block(first, len(rests) - first, prefix, 0, bytes(packed))


class _Asked(Batch):
    """All requests of one job, whose caller is waken when the last is answered. None has a window."""

    def __init__(self, box: Box, session: Session, job: Keys, pieces: list[Piece]) -> None:
        super().__init__(box, session, len(pieces))
        self._job = job
        self._pieces = pieces
        self.has_failed = False
        for at, (piece, request) in enumerate(zip(pieces, self.requests, strict=True)):
            piece.describe(request, self.first_user + at, 0, 0)
            piece.via = session.via

    def came(self, completions: Completions, users: list[int]) -> bool:
        for place, user in enumerate(users):
            at = user - self.first_user
            if at in self.left:
                outcome = self.outcome(completions[place])
                if outcome.result == _native.OK:
                    self._job.came(self._pieces[at], outcome)
                else:
                    self.has_failed = True
                self.left.discard(at)
        if self.left:
            return False
        self.box.arrived.append((None, None))
        return True


def ask(paths: Paths, box: Box, job: Keys) -> Steps[None]:
    """At once where a session stands; what has no answer there is asked for again, by a transfer, which knows other ways."""
    session = paths.standing()
    pieces = job.first(0)
    if session is not None and len(pieces) <= MOST_OF_A_BATCH:
        asked = _Asked(box, session, job, pieces)
        box.whole = asked
        try:
            session.submit(asked, 0, len(pieces))
            while asked.left:
                yield session
                box.arrived.clear()
        except (errors.ConnectionLost, ValueError, Stale):
            asked.has_failed = True
        finally:
            box.whole = None
        if not asked.has_failed:
            if job.error is not None:
                raise job.error
            return
        job.begin_again()
    yield from Transfer(paths, box).run([job])


class Keys(Job):
    """
    A request of many keys, or, with no keys, DELETE_PREFIX, USAGE or REMOVALS. `url` names the bucket and the prefix; LEASE and
    REMOVALS have `millis`.
    """

    has_window = False

    def __init__(self, operation: int, url: str, keys: Sequence[str] = (), millis: int = 0) -> None:
        self.url = url
        self.bucket, self.key = split(url, with_key=False)
        self.operation = operation
        self._keys = keys
        self._millis = millis
        self._blocks = blocks(self.bucket, self.key, keys)
        self.begin_again()

    def begin_again(self) -> None:
        """Forgets what has come."""
        self.flags: list[bool] = [False] * len(self._keys)
        self.counts = [0] * len(self._blocks)
        self.count = 0
        self.headers = ""
        self.error = None

    def first(self, at_once: int) -> list[Piece]:
        return [Piece(self, NOTHING, number=number) for number in range(len(self._blocks) or 1)]

    def came(self, piece: Piece, outcome: Outcome) -> list[Piece]:
        self.via = piece.via
        self.count += outcome.size
        self.headers = outcome.headers
        if self._blocks:
            block = self._blocks[piece.number]
            self.counts[piece.number] = outcome.size
            if self.operation != _native.PREFIX:
                self.flags[block.first:block.first + block.keys] = self._flags(block, outcome)
        return []

    def _flags(self, block: Block, outcome: Outcome) -> list[bool]:
        digits = next((line[len(_HEADER):] for line in outcome.headers.splitlines() if line.startswith(_HEADER)), "")
        try:
            flags = [bit for byte in bytes.fromhex(digits) for bit in _BITS[byte]]
        except ValueError:
            flags = []
        if len(flags) != (block.keys + 7) // 8 * 8:
            self.fail(errors.StoreError(f"{len(flags)} bits came for {block.keys} keys", url=self.url))
            return [False] * block.keys
        return flags[:block.keys]

    def number(self, name: str) -> int:
        """What a header of the last answer says, in decimal digits."""
        value = self.line(name)
        if not (value.isascii() and value.isdigit()):
            raise errors.StoreError(f"{name} is no number: {value!r}", url=self.url)
        return int(value)

    def line(self, name: str) -> str:
        """Returns a header of the last answer; "" without it."""
        return next((line[len(name) + 2:] for line in self.headers.splitlines() if line.startswith(f"{name}: ")), "")

    def leading(self) -> int:
        """Of PREFIX: the keys held before the first that is not."""
        total = 0
        for block, count in zip(self._blocks, self.counts, strict=True):
            total += count
            if count < block.keys:
                break
        return total

    def describe(self, piece: Piece, request: _native.Request) -> None:
        request.buffer, request.offset, request.window = None, 0, 0
        request.part_number = self._millis
        if self._blocks:
            block = self._blocks[piece.number]
            request.key = block.prefix
            request.keys, request.keys_bytes = block.packed, len(block.packed)
            request.keys_count, request.hash_bytes = block.keys, block.hash_bytes

    # ---- By plain S3 ----

    def by_http(self, http: Any, piece: Piece) -> Outcome:
        if self.operation in (_native.LEASE, _native.USAGE, _native.REMOVALS):
            raise errors.NotServed("S3 has no leases, and tells no usage and no removals", url=self.url)
        if not self._blocks:
            return self._clear_by_http(http)
        block = self._blocks[piece.number]
        keys = [self.key + key for key in self._keys[block.first:block.first + block.keys]]
        if self.operation == _native.DELETE:
            self._delete_by_http(http, keys)
            return _outcome([True] * len(keys))
        flags = []
        for key in keys:
            flags.append(self._is_held_by_http(http, key))
            if self.operation == _native.PREFIX and not flags[-1]:
                break
        return _outcome(flags + [False] * (block.keys - len(flags)))

    def _is_held_by_http(self, http: Any, key: str) -> bool:
        outcome: Outcome = http.head(self.url, self.bucket, key, NEWEST)
        if outcome.error is not None and not isinstance(outcome.error, errors.NotFound):
            raise outcome.error
        return outcome.error is None

    def _delete_by_http(self, http: Any, keys: Sequence[str]) -> None:
        wanted = {"Objects": [{"Key": key} for key in keys], "Quiet": True}
        refused = http.call(self.url, "delete_objects", Bucket=self.bucket, Delete=wanted).get("Errors", [])
        if refused:
            raise errors.of_store(0, refused[0].get("Code", ""), refused[0].get("Message", ""), self.url)

    def _clear_by_http(self, http: Any) -> Outcome:
        page: dict[str, Any] = next(iter(http.list(self.url, self.bucket, self.key, "")), {})
        keys = [each["Key"] for each in page.get("Contents", ())]
        if keys:
            self._delete_by_http(http, keys)
        return Outcome(size=len(keys))


def _outcome(flags: list[bool]) -> Outcome:
    """As a gateway answers."""
    bits = sum(1 << at for at, flag in enumerate(flags) if flag)
    digits = bits.to_bytes((len(flags) + 7) // 8, "little").hex()
    return Outcome(status=200, size=sum(flags), headers=f"{_HEADER}{digits}\n")

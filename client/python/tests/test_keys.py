"""Keys that travel many in a request."""

import random

import pytest

from railhead import _native
from railhead._jobs import NOTHING, Piece
from railhead._keys import Block, Keys, blocks
from railhead._session import Outcome


def unpacked(block: Block) -> list[str]:
    """As a gateway reads them."""
    prefix, data = block.prefix.decode(), block.packed
    if block.hash_bytes:
        assert len(data) == block.keys * block.hash_bytes
        return [prefix + data[at:at + block.hash_bytes].hex() for at in range(0, len(data), block.hash_bytes)]
    keys = []
    while data:
        length = int.from_bytes(data[:2], "little")
        keys.append(prefix + data[2:2 + length].decode())
        data = data[2 + length:]
    return keys


def check(prefix: str, keys: list[str]) -> list[Block]:
    made = blocks("kv-bucket", prefix, keys)
    assert [key for block in made for key in unpacked(block)] == [prefix + key for key in keys]
    assert [block.first for block in made] == [sum(b.keys for b in made[:at]) for at in range(len(made))]
    for block in made:
        size = 64 + len("kv-bucket") + len(block.prefix) + 4 + len(block.packed)
        assert (size + 7) // 8 * 8 <= 4088
        assert 0 < block.keys <= 1024
    return made


def digits(count: int, nbytes: int = 32, seed: int = 1) -> list[str]:
    source = random.Random(seed)
    return [source.randbytes(nbytes).hex() for _ in range(count)]


def test_hashes_travel_as_bytes() -> None:
    made = check("p/", [f"model@00000001@0@{each}" for each in digits(512)])
    assert {block.hash_bytes for block in made} <= {31, 32}
    assert len(made) == 5


def test_other_keys_travel_as_texts() -> None:
    for keys in (["a", "bb", "c/é轨"], [each.upper() for each in digits(9)], ["k" + each for each in digits(3)] + ["x"],
                 ["a b ", "a c "], ["x", "x"], ["x"], digits(200, 80)):
        assert not any(block.hash_bytes for block in check("p/", keys) if block.hash_bytes > 64)


def test_any_keys_come_whole() -> None:
    source = random.Random(7)
    for _ in range(300):
        letters = source.choice(["0123456789abcdef", "0a", "ab c\u00e9/", "\U0001f69a@x"])
        count, most = source.choice([1, 2, 9, 2000]), source.choice([1, 2, 9, 64, 200])
        length = source.randint(1, most) if source.random() < 0.5 else 0
        keys = ["".join(source.choices(letters, k=length or source.randint(1, most))) for _ in range(count)]
        check(source.choice(["", "p/", "é"]), keys)


def test_no_keys_and_keys_that_are_none() -> None:
    assert blocks("b", "p", []) == []
    with pytest.raises(ValueError, match="empty"):
        blocks("b", "p", ["a", ""])
    with pytest.raises(ValueError, match="too long"):
        blocks("b", "p", ["a", "k" * 5000])


def test_bits_come_back_in_order() -> None:
    job = Keys(_native.EXISTS, "s3://b/p/", digits(300))
    for number, block in enumerate(job._blocks):
        bits = bytearray((block.keys + 7) // 8)
        for at in range(block.keys):
            if (block.first + at) % 3 == 0:
                bits[at // 8] |= 1 << at % 8
        job.came(Piece(job, NOTHING, number=number), Outcome(status=200, headers=f"x-railhead-keys: {bits.hex()}\n"))
    assert job.error is None
    assert job.flags == [at % 3 == 0 for at in range(300)]


def test_bits_that_are_not_as_many_as_keys_are_an_error() -> None:
    job = Keys(_native.EXISTS, "s3://b/p/", digits(9))
    job.came(Piece(job, NOTHING), Outcome(status=200, headers="x-railhead-keys: ff\n"))
    assert "9 keys" in str(job.error)
    assert job.flags == [False] * 9
    other = Keys(_native.EXISTS, "s3://b/p/", digits(9))
    other.came(Piece(other, NOTHING), Outcome(status=200, headers="x-railhead-keys: no\n"))
    assert "9 keys" in str(other.error)


def test_a_prefix_ends_with_the_first_block_that_is_not_whole() -> None:
    job = Keys(_native.PREFIX, "s3://b/p/", digits(300))
    for number, block in enumerate(job._blocks):
        job.came(Piece(job, NOTHING, number=number), Outcome(status=200, size=block.keys if number != 1 else 7))
    assert job.leading() == job._blocks[0].keys + 7

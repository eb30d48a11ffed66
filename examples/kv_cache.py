"""KV cache: offload of a prefix's blocks, and their restore instead of a prefill.

A small transformer (four layers, random weights) computes the keys and values of a prefix, in blocks of 128 tokens whose names
are hashes of all tokens up to their end. The blocks are written, and later restored into the cache's own memory. Then the
model goes on: its logits must be those that it gave without the offload, to the last bit. The prefill is measured in the same
run, on this processor; a GPU would take less time for it.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from typing import Any

import railhead.torch
import torch

import comparison
from comparison import Site
from measuring import KIB, Stopwatch, Way, check
from transformer import BLOCK, BLOCK_BYTES, HEAD, HEADS, LAYERS, VOCABULARY, WIDTH, Cache, Transformer

CHUNK = 512  # tokens that a prefill computes at once
CONTINUED = 8  # tokens that are decoded to compare logits
CONNECTIONS = 10  # of boto3's client, and so many threads
MULTIPLICATIONS = 20
RUNS = count()

Block = tuple[str, torch.Tensor]
Write = Callable[[Block], object]


@dataclass(frozen=True)
class Prefix:
    model: Transformer
    tokens: torch.Tensor  # a whole number of blocks of them, and one that follows
    cache: Cache

    def prefill(self) -> None:
        """With all processors; the cache's last token is the last but one of `tokens`."""
        torch.set_num_threads(os.cpu_count() or 1)
        self.cache.length = 0
        for chunk in self.tokens[:-1].split(CHUNK):
            self.model(chunk, self.cache)
        torch.set_num_threads(1)

    def go_on(self) -> torch.Tensor:
        """Logits of CONTINUED tokens, [CONTINUED, VOCABULARY], each token the likeliest after those before."""
        self.cache.length = len(self.tokens) - 1
        logits, token = [], self.tokens[-1:]
        for _ in range(CONTINUED):
            logits.append(self.model(token, self.cache))
            token = logits[-1].argmax().view(1)
        return torch.stack(logits)

    def names(self) -> list[str]:
        """A block's keys depend on all tokens before: so does its name."""
        names, chain = [], hashlib.sha256()
        for block in self.tokens[:-1].split(BLOCK):
            chain.update(block.numpy().tobytes())
            names.append("kv-" + chain.hexdigest())
        return names

    def blocks(self) -> list[Block]:
        return list(zip(self.names(), self.cache.blocks))


def make(site: Site) -> Prefix:
    torch.manual_seed(site.options.seed)
    number = max(1, site.options.nbytes // BLOCK_BYTES)
    # One block more, for what is decoded; memory that the gateway reads and writes directly.
    cache = Cache(railhead.torch.empty(site.client, (number + 1, LAYERS, 2, HEADS, BLOCK, HEAD), dtype=torch.float32))
    return Prefix(Transformer((number + 1) * BLOCK), torch.randint(VOCABULARY, (number * BLOCK + 1,)), cache)


def restored(prefix: Prefix, logits: torch.Tensor, restore: Callable[[], object]) -> Way:
    def way(watch: Stopwatch) -> int:
        with watch.aside():
            prefix.cache.blocks.zero_()
        with watch.operation():
            restore()
        watch.stop()
        check(torch.equal(prefix.go_on(), logits), "logits after the restore")
        return len(prefix.names()) * BLOCK_BYTES

    return way


def offloaded(site: Site, prefix: Prefix, threads: ThreadPoolExecutor, write: Write) -> Way:
    """Under other names each time: a block that is there already would not be written again."""

    def way(watch: Stopwatch) -> int:
        run = next(RUNS)
        blocks = [(f"{name}-{run}", block) for name, block in prefix.blocks()]
        with watch.operation():
            list(threads.map(write, blocks))
        with watch.aside():
            for name, block in blocks:
                check(site.read(name) == block.numpy().tobytes(), name)
            site.delete(name for name, _ in blocks)
        return len(blocks) * BLOCK_BYTES

    return way


def put_object(site: Site, s3: Any) -> Write:
    return lambda named: s3.put_object(Bucket=site.bucket, Key=site.key(named[0]), Body=named[1].numpy().tobytes())


def get_objects(site: Site, s3: Any, prefix: Prefix, threads: ThreadPoolExecutor) -> Callable[[], object]:
    def get(named: Block) -> None:
        name, block = named
        site.read_into(s3, name, memoryview(block.numpy()).cast("B"))

    return lambda: list(threads.map(get, prefix.blocks()))


def gigaflops() -> float:
    """Of matrices of the size of the model's, with all processors."""
    torch.set_num_threads(os.cpu_count() or 1)
    left, right = torch.randn(CHUNK, WIDTH), torch.randn(WIDTH, 4 * WIDTH)
    begun = time.perf_counter()
    for _ in range(MULTIPLICATIONS):
        torch.mm(left, right)
    seconds = time.perf_counter() - begun
    torch.set_num_threads(1)
    return MULTIPLICATIONS * 2 * CHUNK * WIDTH * 4 * WIDTH / seconds / 1e9


@torch.inference_mode()
def work(site: Site) -> None:
    prefix = make(site)
    prefix.prefill()
    logits = prefix.go_on()
    blocks = prefix.blocks()
    print(f"a prefix of {len(prefix.tokens) - 1} tokens: {len(blocks)} blocks of {BLOCK_BYTES // KIB} KiB")

    def put_from(named: Block) -> None:
        name, block = named
        site.client.put_from(site.url(name), block)

    with ThreadPoolExecutor(CONNECTIONS) as threads:
        offloads = {"railhead": offloaded(site, prefix, threads, put_from)}
        for name, s3 in site.plain.items():
            offloads[name] = offloaded(site, prefix, threads, put_object(site, s3))
        site.compare("offload, of a whole prefix", offloads)
        site.tell(comparison.WRITES)

        list(threads.map(put_from, blocks))
        reads = [(site.url(name), block) for name, block in blocks]
        restores = {"railhead": restored(prefix, logits, lambda: site.client.get_many(reads))}
        for name, s3 in site.plain.items():
            restores[name] = restored(prefix, logits, get_objects(site, s3, prefix, threads))
        site.tell(f"This torch multiplies matrices at {gigaflops():.0f} GFLOP/s here: what its prefill is to be judged by.")
        site.compare("restore, of a whole prefix", {**restores, "prefill": restored(prefix, logits, prefix.prefill)})


if __name__ == "__main__":
    sys.exit(comparison.main("kv-cache", __doc__, "16MiB", work))

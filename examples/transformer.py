"""A small transformer, whose keys and values lie in blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

LAYERS, HEADS, WIDTH, VOCABULARY = 4, 4, 256, 1024
HEAD = WIDTH // HEADS
BLOCK = 128  # tokens
BLOCK_BYTES = BLOCK * LAYERS * 2 * WIDTH * 4


@dataclass
class Cache:
    """Keys and values of one sequence, [blocks, LAYERS, 2, HEADS, BLOCK, HEAD] float32: a block is contiguous."""

    blocks: torch.Tensor
    length: int = 0  # tokens

    def append(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Takes [tokens, HEADS, HEAD] behind `length`; returns all there are then as [HEADS, tokens, HEAD]."""
        place = torch.arange(self.length, self.length + len(keys))
        for kind, new in enumerate((keys, values)):
            self.blocks[place // BLOCK, layer, kind, :, place % BLOCK] = new
        used = self.blocks[: (int(place[-1]) + BLOCK) // BLOCK, layer].permute(1, 2, 0, 3, 4).reshape(2, HEADS, -1, HEAD)
        return used[0, :, : place[-1] + 1], used[1, :, : place[-1] + 1]


class Transformer(torch.nn.Module):
    def __init__(self, longest: int) -> None:
        super().__init__()
        self.tokens = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.places = torch.nn.Embedding(longest, WIDTH)
        self.attend = torch.nn.ModuleList(torch.nn.Linear(WIDTH, 3 * WIDTH) for _ in range(LAYERS))
        self.think = torch.nn.ModuleList(
            torch.nn.Sequential(torch.nn.LayerNorm(WIDTH), torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(),
                                torch.nn.Linear(4 * WIDTH, WIDTH)) for _ in range(LAYERS))

    def forward(self, tokens: torch.Tensor, cache: Cache) -> torch.Tensor:
        """The logits of what follows the last of [tokens], whose keys and values are appended to the cache."""
        first, new = cache.length, len(tokens)
        x = self.tokens(tokens) + self.places(torch.arange(first, first + new))
        hidden = torch.ones(new, first + new, dtype=torch.bool).triu(first + 1)
        for layer in range(LAYERS):
            queries, keys, values = self.attend[layer](x).view(new, 3, HEADS, HEAD).unbind(1)
            all_keys, all_values = cache.append(layer, keys, values)
            scores = queries.transpose(0, 1) @ all_keys.transpose(1, 2) / math.sqrt(HEAD)
            x = x + (scores.masked_fill(hidden, -math.inf).softmax(-1) @ all_values).transpose(0, 1).reshape(new, WIDTH)
            x = x + self.think[layer](x)
        cache.length += new
        return x[-1] @ self.tokens.weight.T

# pyright: basic, reportArgumentType=false
"""Mixture of experts: each token is multiplied by the weights of the experts it is routed to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cuda.tile as ct
import numpy as np

from kernels.cutile.problem import Problem
from kernels.elements import ELEMENTS, F32, Array, accumulated
from kernels.kernel import Reference, tiles_of

ConstInt = ct.Constant[int]
ConstBool = ct.Constant[bool]


@ct.kernel
def moe_gemm(
    tokens,
    weights,
    out,
    shares,
    slots,
    experts,
    choices: ConstInt,
    is_weighted: ConstBool,
    tm: ConstInt,
    tn: ConstInt,
    tk: ConstInt,
):
    """A tile of one expert: rows gathered by its list of slots, results scattered to them.

    Slot `s` is choice `s % choices` of token `s // choices`; its row of `out` is that of the token,
    `(tokens, k)`, times the weights of the expert, `(experts, n, k)`, times its share if rows are
    weighted.  Lists of experts are filled up to whole tiles with a slot that does not exist, which
    is read as zero and not stored.
    """
    i, j = ct.bid(0), ct.bid(1)
    mine = ct.gather(slots, i * tm + ct.arange(tm, dtype=ct.int32))
    rows = (mine // choices)[:, None]
    expert = ct.load(experts, index=(i,), shape=())
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.cdiv(tokens.shape[1], tk)):
        columns = (k * tk + ct.arange(tk, dtype=ct.int32))[None, :]
        a = ct.gather(tokens, (rows, columns))
        b = ct.load(
            weights,
            index=(expert, k, j),
            shape=(1, tk, tn),
            order=(0, 2, 1),
            padding_mode=ct.PaddingMode.ZERO,
        )
        acc = ct.mma(a, b.reshape((tk, tn)), acc)
    if is_weighted:
        acc = acc * ct.gather(shares, mine)[:, None]
    columns = (j * tn + ct.arange(tn, dtype=ct.int32))[None, :]
    ct.scatter(out, (mine[:, None], columns), ct.astype(acc, out.dtype))


@dataclass(frozen=True)
class Experts:
    """The sizes of a launch; every token is given to `choices` of the experts."""

    tokens: int
    experts: int
    n: int
    k: int
    element: str = "f16"
    choices: int = 2
    is_weighted: bool = True
    tm: int = 64
    tn: int = 64
    tk: int = 64

    def __str__(self) -> str:
        words = [f"moe {self.tokens} tokens {self.experts} experts {self.n}x{self.k}"]
        words += [self.element, *["weighted"] * self.is_weighted]
        return " ".join([*words, f"{self.tm}x{self.tn}x{self.tk}"])

    @property
    def slots(self) -> int:
        """Tokens, as often as they are given to an expert."""
        return self.tokens * self.choices

    @property
    def tiles(self) -> int:
        """The most tiles that the lists of experts can take, filled up."""
        return self.experts + self.slots // self.tm

    def make(self, rng: np.random.Generator) -> Sequence[Any]:
        """Normal numbers, and lists of the slots of each expert; the output holds NaN."""
        kind = ELEMENTS[self.element]
        tokens = kind.random(rng, (self.tokens, self.k))
        weights = kind.random(rng, (self.experts, self.n, self.k))
        out = kind.unset(rng, (self.slots, self.n))
        shares = rng.random(self.slots).astype(np.float32)
        slots, experts = self.lists(rng)
        sizes = (self.choices, self.is_weighted, self.tm, self.tn, self.tk)
        return (tokens, weights, out, shares, slots, experts, *sizes)

    def lists(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """The slots of each tile, and its expert; tiles that are left have no slots."""
        chosen = rng.random((self.tokens, self.experts)).argsort(axis=1)[:, : self.choices]
        slots = np.full((self.tiles, self.tm), self.slots, np.int32)
        experts = np.zeros(self.tiles, np.int32)
        tile = 0
        for expert in range(self.experts):
            mine = np.flatnonzero(chosen.ravel() == expert)
            for first in range(0, len(mine), self.tm):
                some = mine[first : first + self.tm]
                slots[tile, : len(some)], experts[tile] = some, expert
                tile += 1
        return slots.ravel(), experts

    def reference(self, arguments: Sequence[Any]) -> Mapping[int, Reference]:
        """The exact result, and how far rounding may lead from it."""
        tokens, weights, _, shares, slots, experts = (array for array in arguments[:6])
        tokens, weights, shares = (each.astype(np.float64) for each in (tokens, weights, shares))
        exact = np.zeros((self.slots, self.n))
        sizes = np.zeros_like(exact)
        for tile, expert in zip(slots.reshape(-1, self.tm), experts, strict=True):
            mine = tile[tile < self.slots]
            rows, factor = tokens[mine // self.choices], weights[expert].T
            exact[mine], sizes[mine] = rows @ factor, np.abs(rows) @ np.abs(factor)
        error = accumulated(self.k, sizes)
        if self.is_weighted:
            exact, error = exact * shares[:, None], error * shares[:, None]
            error = error + F32.rounding(np.abs(exact) + error)
        kind = ELEMENTS[self.element]
        return {2: Reference(exact, error + kind.rounding(np.abs(exact) + error))}

    def problem(self) -> Problem:
        """The launch of a block for each tile of slots and of columns."""
        grid = (self.tiles, tiles_of(self.n, self.tn), 1)
        return Problem(str(self), moe_gemm, self.make, self.reference, grid)


PROBLEMS: Sequence[Problem] = [
    sizes.problem()
    for sizes in (
        Experts(50, 3, 70, 100),
        Experts(64, 4, 128, 128, "bf16"),
        Experts(90, 2, 96, 72, choices=1, is_weighted=False, tk=32),
    )
]

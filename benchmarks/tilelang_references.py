# pyright: basic
"""What references of TileLang's examples need of a GPU, on the CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

_UNBOUNDED = float("-inf")


def attention_of_sequences(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    first_q: torch.Tensor,
    first_k: torch.Tensor,
    *_: Any,
    softmax_scale: float | None = None,
    causal: bool = False,
) -> torch.Tensor:
    """`flash_attn.flash_attn_varlen_func`: sequences one after the other in `(rows, heads, width)`.

    `first_q` and `first_k` are where each begins, with the end of the last.  Heads of queries share
    those of keys in groups; where it is causal, the last query sees all keys, as in flash-attn 2.1.
    """
    groups = q.shape[1] // k.shape[1]
    scale = q.shape[-1] ** -0.5 if softmax_scale is None else softmax_scale
    made = torch.zeros(*q.shape[:2], v.shape[-1], dtype=q.dtype)
    bounds = zip(first_q[:-1], first_q[1:], first_k[:-1], first_k[1:], strict=True)
    for start, stop, first, last in ([int(n) for n in row] for row in bounds):
        queries = q[start:stop].float()
        keys, values = (x[first:last].float().repeat_interleave(groups, dim=1) for x in (k, v))
        scores = torch.einsum("qhd,khd->hqk", queries, keys) * scale
        if causal:
            ahead = torch.ones(scores.shape[1:], dtype=torch.bool)
            scores = scores.masked_fill(
                ahead.triu(scores.shape[2] - scores.shape[1] + 1), _UNBOUNDED
            )
        weights = scores.softmax(dim=-1).nan_to_num(0.0)
        made[start:stop] = torch.einsum("hqk,khd->qhd", weights, values).to(made.dtype)
    return made


def hadamard(order: int, dtype: Any = int) -> np.ndarray:
    """`scipy.linalg.hadamard`: Sylvester's matrix, of an order that is a power of two."""
    made = np.ones((1, 1), dtype)
    while len(made) < order:
        made = np.block([[made, made], [made, -made]])
    return made


class _Count(int):
    """A variable of a loop, which kernels of Triton convert: their interpreter counts with `int`."""

    def to(self, *_: Any, **__: Any) -> _Count:
        """The number."""
        return self


def with_counts_of_loops() -> None:
    """Have kernels of Triton count with numbers that can be converted."""
    try:
        from triton.runtime.interpreter import GridExecutor
    except ImportError:
        return
    inner = GridExecutor.__init__

    def init(executor: Any, function: Any, *arguments: Any) -> None:
        inner(executor, function, *arguments)
        function.__globals__["range"] = lambda *bounds: map(_Count, range(*bounds))

    GridExecutor.__init__ = init

# pyright: basic
"""What torch needs for the result of a kernel of TileLang's examples, and its products.

Keys are `FILE:KERNEL` without `example_`, or a beginning of it; functions take the kernel's arguments.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any


@dataclasses.dataclass(frozen=True)
class Counterpart:
    """The same result by torch (cuBLAS, cuDNN), where there is one."""

    function: Callable[..., Any] | None = None
    operations: Callable[..., float] | None = None
    """Multiplications and additions of products."""
    output: int | None = None
    """The argument that is compared; None for the first output."""
    tolerance: float = 1e-2
    width: int | None = None
    """Bytes of an element that is multiplied; None for that of the first argument."""


def _matmul_operations(a: Any, b: Any, *_: Any) -> float:
    return 2.0 * a.shape[-2] * a.shape[-1] * (b.numel() // a.shape[-1])


def _scaled(a: Any, b: Any, *_: Any) -> Any:
    import torch

    one = torch.ones((), device="cuda")
    return torch._scaled_mm(a, b.T, one, one, out_dtype=torch.bfloat16)


def _attention(*, heads_first: bool, causal: bool = False) -> Counterpart:
    def function(q: Any, k: Any, v: Any, *_: Any) -> Any:
        import torch

        each = (q, k, v) if heads_first else (x.transpose(1, 2) for x in (q, k, v))
        made = torch.nn.functional.scaled_dot_product_attention(
            *each,
            is_causal=causal,
            enable_gqa=q.shape[1 if heads_first else 2] != k.shape[1 if heads_first else 2],
        )
        return made if heads_first else made.transpose(1, 2)

    def operations(q: Any, k: Any, *_: Any) -> float:
        keys = k.shape[2 if heads_first else 1]
        return 4.0 * q.numel() * keys / (2 if causal else 1)

    return Counterpart(function, operations, output=3)


def _decode(q: Any, k: Any, v: Any, mask: Any, *_: Any) -> Any:
    import torch

    each = q[:, :, None], k.transpose(1, 2), v.transpose(1, 2)
    heads = mask.transpose(1, 2).bool().repeat_interleave(q.shape[1] // k.shape[2], 1)[:, :, None]
    return torch.nn.functional.scaled_dot_product_attention(
        *each, attn_mask=heads, enable_gqa=True
    )[:, :, 0]


def _mla(q: Any, q_pe: Any, kv: Any, k_pe: Any, *_: Any) -> Any:
    import torch

    queries, keys = torch.cat((q, q_pe), -1), torch.cat((kv, k_pe), -1)[:, :, 0]
    weights = (queries @ keys.transpose(1, 2) * queries.shape[-1] ** -0.5).softmax(-1)
    return weights @ kv[:, :, 0]


def _backward_operations(q: Any, k: Any, v: Any, *_: Any) -> float:
    return (
        2.0 * q.shape[0] * q.shape[2] * q.shape[1] * k.shape[1] * (3 * q.shape[3] + 2 * v.shape[3])
    )


def _norm(x: Any, *_: Any) -> Any:
    import torch

    return torch.nn.functional.rms_norm(x, x.shape[-1:], eps=1e-12)


def _layer_norm(x: Any, gamma: Any, beta: Any, *_: Any) -> Any:
    import torch

    return torch.nn.functional.layer_norm(x, x.shape[-1:], gamma, beta, 1e-5)


def _convolution(data: Any, kernel: Any, *_: Any) -> Any:
    import torch

    return torch.nn.functional.conv2d(
        data.permute(0, 3, 1, 2), kernel.permute(3, 2, 0, 1), padding=1
    ).permute(0, 2, 3, 1)


def _convolution_operations(data: Any, kernel: Any, out: Any, *_: Any) -> float:
    return 2.0 * out.numel() * kernel.shape[0] * kernel.shape[1] * kernel.shape[2]


def _product_and_squares(x: Any, weights: Any, *_: Any) -> Any:
    x = x.float()
    _ = x @ weights.T
    return x.square().sum(-1)


_MATMUL = Counterpart(lambda a, b, *_: a @ b, _matmul_operations)
_SCALED = Counterpart(_scaled, _matmul_operations, tolerance=5e-2)
_GEMV = Counterpart(lambda a, b, *_: b @ a)

COUNTERPARTS = {
    "gemm:": _MATMUL,
    "gemm_": _MATMUL,
    "quickstart:": Counterpart(lambda a, b, *_: (a @ b).relu(), _matmul_operations),
    "tilelang_gemm_splitk": Counterpart(lambda a, b, *_: a @ b, _matmul_operations),
    "tilelang_gemm_fp8": _SCALED,
    "deepgemm_fp8_2xAcc": Counterpart(None, _matmul_operations),
    "mha_fwd_bshd": _attention(heads_first=False),
    "gqa_fwd_bshd": _attention(heads_first=False),
    "mha_fwd_bhsd": _attention(heads_first=True),
    "mha_inference": Counterpart(
        _attention(heads_first=False).function, lambda q, k, *_: 4.0 * q.numel() * k.shape[1], output=3
    ),
    "retention_fwd": Counterpart(None, lambda q, *_: 2.0 * q.numel() * q.shape[1]),
    "mha_sink_fwd_bhsd": Counterpart(None, lambda q, k, *_: 2.0 * q.numel() * k.shape[2]),
    "mha_bwd_bshd:flash_fwd": Counterpart(None, lambda q, k, *_: 4.0 * q.numel() * k.shape[1]),
    "mha_bwd_bshd:flash_bwd": Counterpart(None, _backward_operations),
    "gqa_bwd:flash_bwd": Counterpart(None, _backward_operations),
    "gqa_bwd:flashattn_bwd": Counterpart(None, _backward_operations),
    "gqa_bwd:flash_fwd": Counterpart(
        None, lambda q, k, v, *_: 2.0 * q.shape[0] * q.shape[1] * q.shape[2] * k.shape[1] * (q.shape[3] + v.shape[3])
    ),
    "gqa_decode:": Counterpart(_decode, output=4),
    "mla_decode:": Counterpart(
        _mla,
        lambda q, q_pe, kv, *_: 2.0 * (2 * q.numel() + q_pe.numel()) * kv.shape[1],
        output=4,
    ),
    "rms_norm": Counterpart(_norm),
    "layernorm:": Counterpart(),
    "layernorm:layernorm_fwd": Counterpart(_layer_norm),
    "online_softmax": Counterpart(lambda x, *_: x.softmax(-1)),
    "convolution": Counterpart(_convolution, _convolution_operations),
    "mhc_pre:mhc_pre_gemm_sqrsum": Counterpart(
        _product_and_squares, _matmul_operations, output=3, width=4
    ),
    "elementwise_add": Counterpart(lambda a, b, *_: a + b),
    "gemv": _GEMV,
    "gemv:gemv_alloc_reducer": Counterpart(lambda a, x, *_: a @ x),
    "gqa_bwd:flash_bwd_": Counterpart(),
    "mha_bwd_bshd:flash_bwd_": Counterpart(),
}  # fmt: skip

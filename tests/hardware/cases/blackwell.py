"""Instructions that need sm_100 or later; numpy is the reference where no such GPU is present."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
from hardware.cases.boxes import MAP, aligned, load_body, store_body
from hardware.cases.case import Array, Case, kernel_text, pointers
from hardware.cases.inputs import inputs_of, rng_of

from tileas_xdsl.interpreters.ptx import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import TensorMap

TARGET = "sm_100a"

REDUX = """
.reg .b32 %t, %v, %w; .reg .b64 %a, %b, %o;
mov.u32 %t, %tid.x; ld.param.u64 %a, [A]; ld.param.u64 %b, [B]; mul.wide.u32 %o, %t, 4;
add.u64 %a, %a, %o; add.u64 %b, %b, %o; ld.global.u32 %v, [%a];
redux.sync.{form}.f32 %w, %v, -1; st.global.u32 [%b], %w; ret;
"""


def blackwell_cases() -> Iterator[Case]:
    """Yield f32 `redux.sync` cases and TMA copies of 4-bit elements."""
    for operation, magnitude, nan in product(("min", "max"), ("", ".abs"), ("", ".NaN")):
        form = f"{operation}{magnitude}{nan}"
        a = inputs_of("f32", f"redux {form}", 512)
        a[:64] = np.where(np.isnan(a[:64].view(np.float32)), 1, a[:64])
        text = kernel_text(REDUX.format(form=form), pointers("AB"), target=TARGET)
        out = np.zeros(512, np.uint32)
        wanted = {1: _extremes(a, operation, bool(magnitude), bool(nan))}
        yield Case("warp reductions", f"{form}.f32", text, (a, out), 1, 512, target=TARGET,
                   wanted=wanted)  # fmt: skip
    yield from (_loaded(n) for n in range(4))
    yield from (_stored(n) for n in range(2))


def _extremes(words: Array, operation: str, magnitude: bool, nan: bool) -> Array:
    """Return the minimum or maximum of each warp as f32 bits, with +0 > -0.

    NaN inputs are ignored unless `nan` is set (the `.NaN` modifier).
    """
    with np.errstate(invalid="ignore"):
        values = words.view(np.float32).reshape(-1, 32).astype(np.float64)
    values = np.abs(values) if magnitude else values
    is_nan = np.isnan(values)
    worst = np.inf if operation == "min" else -np.inf
    kept = np.where(is_nan, worst, values)
    zeros = np.where(np.signbit(kept), -1e-60, 1e-60)
    kept = np.where(kept == 0, zeros, kept)
    found = kept.min(axis=1) if operation == "min" else kept.max(axis=1)
    bits = found.astype(np.float32).view(np.uint32)
    gone = is_nan.any(axis=1) if nan else is_nan.all(axis=1)
    return np.repeat(np.where(gone, 0x7FFFFFFF, bits).astype(np.uint32), 32)


def _map(number: int) -> tuple[TensorMap, tuple[int, int], Array]:
    """Return a tensor map of 4-bit elements, box coordinates near the tensor, and its bytes."""
    rng = rng_of(f"b4x16 {number}")
    columns, rows = 2 * 16 * int(rng.integers(1, 5)), int(rng.integers(4, 12))
    m = TensorMap("b4x16", 0, (columns, rows), (columns // 2 + 16,), (32, 6))
    at = aligned(m, (int(rng.integers(-columns, columns)), int(rng.integers(-3, rows))))
    tensor = rng.integers(0, 256, (rows, columns // 2 + 16), dtype=np.uint8)
    return m, (at[0], at[1]), tensor


def _rows(m: TensorMap, at: tuple[int, int]) -> Iterator[tuple[int, int, slice, slice]]:
    """Yield the in-bounds rows of a box: row in the box, row in the tensor, byte ranges in both."""
    first, size = at[0] // 2, m.box[0] // 2
    low, high = max(first, 0), min(first + size, m.dims[0] // 2)
    for row in range(m.box[1]):
        if 0 <= at[1] + row < m.dims[1] and low < high:
            yield row, at[1] + row, slice(low - first, high - first), slice(low, high)


def _loaded(number: int) -> Case:
    m, at, tensor = _map(number)
    wanted = np.zeros((m.box[1], m.box[0] // 2), np.uint8)
    for row, there, mine, theirs in _rows(m, at):
        wanted[row, mine] = tensor[there, theirs]
    text = kernel_text(load_body(m, at), f"{MAP}, {pointers('B')}", target=TARGET)
    arguments = (TensorMapArg(m, tensor), np.zeros(wanted.size, np.uint8))
    name = f"b4x16 {m.dims[0]}x{m.dims[1]}, at {at}"
    return Case("TMA loads", name, text, arguments, target=TARGET, wanted={1: wanted.reshape(-1)})


def _stored(number: int) -> Case:
    m, (column, row), tensor = _map(number + 10)
    at = max(column, 0), max(row, 0)  # No store begins at a negative coordinate.
    data = rng_of(f"b4x16 data {number}").integers(0, 256, (m.box[1], m.box[0] // 2), np.uint8)
    wanted = tensor.copy()
    for row, there, mine, theirs in _rows(m, at):
        wanted[there, theirs] = data[row, mine]
    text = kernel_text(store_body(m, at), f"{MAP}, {pointers('B')}", target=TARGET)
    made = Case("TMA stores", "", text, (TensorMapArg(m, tensor), data.reshape(-1)), target=TARGET)
    return replace(made, name=f"b4x16 {m.dims[0]}x{m.dims[1]}, at {at}", wanted={0: wanted})

"""Register layouts against the formulas of the PTX ISA, for every thread and register.

In the formulas g is the lane divided by 4, t the lane modulo 4, w the warp, i the value.
"""

import numpy as np
import pytest

from tileas_xdsl.layout.tables import table
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.register_layouts import (
    REGISTER_LAYOUTS,
    WGMMA_N,
    register_layout,
    wgmma_accumulator,
)


def a_16bit(w, g, t, i):
    return g + 8 * (i >> 1 & 1) + 16 * w, 2 * t + (i & 1) + 8 * (i >> 2)


def a_8bit(w, g, t, i):
    return g + 8 * (i >> 2 & 1) + 16 * w, 4 * t + (i & 3) + 16 * (i >> 3)


def a_tf32(w, g, t, i):
    return g + 8 * (i & 1) + 16 * w, t + 4 * (i >> 1)


def c_16x8(w, g, t, i):
    return g + 8 * (i >= 2), 2 * t + (i & 1)


# (row, column) of A and C; (n, k) of B, where PTX gives row = k and column = n
FORMULAS = {
    "wgmma.m64k16.16bit.a": a_16bit,
    "wgmma.m64k32.8bit.a": a_8bit,
    "wgmma.m64k8.tf32.a": a_tf32,
    "mma.m16n8k8.16bit.a": a_16bit,
    "mma.m16n8k8.16bit.b": lambda w, g, t, i: (g, 2 * t + i),
    "mma.m16n8k16.16bit.a": a_16bit,
    "mma.m16n8k16.16bit.b": lambda w, g, t, i: (g, 2 * t + (i & 1) + 8 * (i >= 2)),
    "mma.m16n8k4.tf32.a": lambda w, g, t, i: (g + 8 * i, t),
    "mma.m16n8k4.tf32.b": lambda w, g, t, i: (g, t + 0 * i),
    "mma.m16n8k8.tf32.a": a_tf32,
    "mma.m16n8k8.tf32.b": lambda w, g, t, i: (g, t + 4 * i),
    "mma.m16n8k16.8bit.a": lambda w, g, t, i: (g + 8 * (i >= 4), 4 * t + (i & 3)),
    "mma.m16n8k16.8bit.b": lambda w, g, t, i: (g, 4 * t + i),
    "mma.m16n8k32.8bit.a": a_8bit,
    "mma.m16n8k32.8bit.b": lambda w, g, t, i: (g, 4 * t + (i & 3) + 16 * (i >= 4)),
    "mma.m16n8k64.4bit.a": lambda w, g, t, i: (
        g + 8 * (i >> 3 & 1), 8 * t + (i & 7) + 32 * (i >> 4)
    ),
    "mma.m16n8k64.4bit.b": lambda w, g, t, i: (g, 8 * t + (i & 7) + 32 * (i >> 3)),
    "mma.m8n8k4.f64.a": lambda w, g, t, i: (g, t + 0 * i),
    "mma.m8n8k4.f64.b": lambda w, g, t, i: (g, t + 0 * i),
    "mma.m8n8k4.f64.c": lambda w, g, t, i: (g, 2 * t + i),
    "mma.m16n8k4.f64.a": lambda w, g, t, i: (g + 8 * i, t),
    "mma.m16n8k4.f64.b": lambda w, g, t, i: (g, t + 0 * i),
    "mma.m16n8k8.f64.a": lambda w, g, t, i: (g + 8 * (i & 1), t + 4 * (i >> 1)),
    "mma.m16n8k8.f64.b": lambda w, g, t, i: (g, t + 4 * i),
    "mma.m16n8k16.f64.a": lambda w, g, t, i: (g + 8 * (i & 1), t + 4 * (i >> 1)),
    "mma.m16n8k16.f64.b": lambda w, g, t, i: (g, t + 4 * i),
} | {
    f"mma.{shape}.c": c_16x8
    for shape in ("m16n8k8.16bit", "m16n8k16.16bit", "m16n8k4.tf32", "m16n8k8.tf32",
                  "m16n8k16.8bit", "m16n8k32.8bit", "m16n8k64.4bit", "m16n8k4.f64",
                  "m16n8k8.f64", "m16n8k16.f64")
} | {
    f"wgmma.m64n{n}.d": lambda w, g, t, i: (
        16 * w + g + 8 * (i >> 1 & 1),
        8 * (i >> 2) + 2 * t + (i & 1),
    )
    for n in WGMMA_N
}  # fmt: skip


def threads_and_values(entry):
    thread = np.arange(entry.threads)[:, None]
    return thread, np.arange(entry.values)[None, :]


def held(entry):
    """`(threads, values)`: the index in the tile."""
    return table(entry.layout).reshape(entry.values, entry.threads).T


@pytest.mark.parametrize("name", FORMULAS)
def test_matrix_fragments(name):
    entry = register_layout(name)
    thread, i = threads_and_values(entry)
    row, column = FORMULAS[name](thread // 32, thread % 32 // 4, thread % 4, i)
    assert np.array_equal(held(entry), row + entry.tile[0] * column + 0 * thread)


def row_addresses(thread, i, rows, width):
    """Lane l gives the address of row l of all matrices; further lanes repeat the rows."""
    return thread % rows * width + i


def matrix_moves():
    for count in (1, 2, 4):
        for op, memory, registers in (("ldmatrix", "src", "dst"), ("stmatrix", "dst", "src")):
            plain, trans = f"{op}.m8n8.x{count}.b16", f"{op}.m8n8.x{count}.trans.b16"
            for name in (plain, trans):
                yield f"{name}.{memory}", lambda l, i, c=count: row_addresses(l, i, 8 * c, 8)
            # thread l holds row l/4, columns 2(l%4) and 2(l%4)+1 of matrix i/2
            yield (
                f"{plain}.{registers}",
                lambda l, i: 64 * (i // 2) + 8 * (l // 4) + 2 * (l % 4) + i % 2,
            )
            yield (
                f"{trans}.{registers}",
                lambda l, i: 64 * (i // 2) + 8 * (2 * (l % 4) + i % 2) + l // 4,
            )
    for count in (1, 2):
        name = f"ldmatrix.m16n16.x{count}.trans.b8"
        yield f"{name}.src", lambda l, i, c=count: row_addresses(l, i, 16 * c, 16)
        # register 2m+h of thread l holds rows 4(l%4)..+3 of column l/4 + 8h of matrix m
        yield (
            f"{name}.dst",
            lambda l, i: 256 * (i // 8) + 16 * (4 * (l % 4) + i % 4) + l // 4 + 8 * (i // 4 % 2),
        )
    for count in (1, 2, 4):
        name = f"stmatrix.m16n8.x{count}.trans.b8"
        yield f"{name}.dst", lambda l, i, c=count: row_addresses(l, i, 8 * c, 16)
        # register m of thread l holds rows 2(l%4), +1 of column l/4, then of column l/4 + 8
        yield (
            f"{name}.src",
            lambda l, i: 128 * (i // 4) + 16 * (2 * (l % 4) + i % 2) + l // 4 + 8 * (i // 2 % 2),
        )


MOVES = dict(matrix_moves())


@pytest.mark.parametrize("name", MOVES)
def test_matrix_loads_and_stores(name):
    entry = register_layout(name)
    assert np.array_equal(held(entry), MOVES[name](*threads_and_values(entry)))


def test_every_entry_has_a_formula():
    assert set(REGISTER_LAYOUTS) == set(FORMULAS) | set(MOVES)


@pytest.mark.parametrize("name", REGISTER_LAYOUTS)
def test_fragments_agree(name):
    """The inverse direction names, for each element, a register that holds it."""
    entry = register_layout(name)
    fragment = entry.fragment
    assert fragment.threads == entry.threads
    expected = held(entry)
    for replica in range(fragment.replicas):
        threads, values = fragment.thread_table[replica], fragment.value_table[replica]
        assert np.array_equal(expected[threads, values], np.arange(fragment.elements))


def test_stores_of_bytes_take_an_accumulator():
    """stmatrix.m16n8.trans stores what mma leaves in registers, rounded to bytes and transposed."""
    stored = held(register_layout("stmatrix.m16n8.x1.trans.b8.src"))
    accumulator = held(register_layout("mma.m16n8k32.8bit.c"))
    assert np.array_equal(stored % 16 + 16 * (stored // 16), accumulator)


def test_unknown_names():
    with pytest.raises(TargetError, match=r"not 12"):
        wgmma_accumulator(12)
    with pytest.raises(TargetError, match=r"known: ldmatrix.m8n8.x1.b16.src, "):
        register_layout("ldmatrix.m8n8.x3.b16.src")
    with pytest.raises(TargetError, match=r"known: wgmma, mma, ldmatrix, stmatrix"):
        register_layout("hmma")

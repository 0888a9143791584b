"""Tensor memory against the formulas of the PTX ISA, for every row, column, thread and register."""

import numpy as np
import pytest

from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.output.text import parse_cute_layout
from tileas_xdsl.layout.tables import flat_table, is_injective, table
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.mma_kinds import KINDS
from tileas_xdsl.target.tensor_memory import (
    ACCUMULATORS,
    COLUMN,
    LANE,
    LANE_STEP,
    MOVE_SHAPES,
    accumulator,
    counted,
    move_registers,
    weight_stationary_accumulator,
)

# (row, column, n) -> (lane, column of tensor memory), PTX ISA data path layouts D, F, D, B
ACCUMULATOR_FORMULAS = {
    (1, 128): lambda r, c, n: (r, c),
    (1, 64): lambda r, c, n: (32 * (r // 16) + r % 16, c),
    (2, 256): lambda r, c, n: (r, c),
    (2, 128): lambda r, c, n: (r + 64 * (c >= n // 2), c % (n // 2)),
    (2, 64): lambda r, c, n: (r + 32 * (c // (n // 4)), c % (n // 4)),
}


@pytest.mark.parametrize("ctas", [1, 2])
def test_accumulators_have_the_n_of_some_instruction(ctas):
    legal = {n for kind in KINDS.values() if (s := kind.shapes.get(str(ctas))) for n in s.n}
    for m in (m for count, m in ACCUMULATORS if count == ctas):
        for n in range(-8, 520):
            if n in legal:
                assert accumulator(m, n, ctas)[1].size() == n
                continue
            with pytest.raises(TargetError, match=f"N {n} is not a multiple of"):
                accumulator(m, n, ctas)


@pytest.mark.parametrize("n", [16, 32, 96, 256])
@pytest.mark.parametrize("key", ACCUMULATORS)
def test_accumulators(key, n):
    ctas, m = key
    layout = accumulator(m, n, ctas)
    rows = m // ctas
    row, column = np.arange(rows)[None, :], np.arange(n)[:, None]
    lanes, columns = np.broadcast_arrays(*ACCUMULATOR_FORMULAS[key](row, column, n))
    assert np.array_equal(table(layout, LANE), lanes.ravel())
    assert np.array_equal(table(layout, COLUMN), columns.ravel())
    addresses = table(counted(layout, LANE_STEP))
    assert np.array_equal(addresses, (lanes << 16 | columns).ravel())
    assert is_injective(layout)


@pytest.mark.parametrize(("m", "parts"), [(32, 4), (64, 2), (128, 1)])
def test_weight_stationary_accumulators(m, parts):
    """PTX ISA data path layouts G, E and D."""
    row, column = np.arange(m)[None, :], np.arange(256)[:, None]
    layout = weight_stationary_accumulator(m, 256)
    lanes = row + m * (column // (256 // parts))
    assert np.array_equal(table(layout, LANE), lanes.ravel())
    columns = np.broadcast_to(column % (256 // parts), lanes.shape)
    assert np.array_equal(table(layout, COLUMN), columns.ravel())
    with pytest.raises(TargetError, match="no weight-stationary accumulator has M 96; known: 32"):
        weight_stationary_accumulator(96, 64)


def test_accumulators_as_cute_prints_them():
    assert counted(accumulator(128, 64), LANE_STEP) == Layout((128, 64), (65536, 1))
    assert counted(accumulator(64, 64), LANE_STEP) == Layout(
        ((16, 4), 64), ((65536, 32 * 65536), 1)
    )
    assert counted(accumulator(128, 64, 2), LANE_STEP) == Layout(
        (64, (32, 2)), (65536, (1, 64 * 65536))
    )


# (thread, register, repetitions) -> (lane, column), as the figures of the PTX ISA and TVM's page of
# tcgen05.ld and .st have them
MOVE_FORMULAS = {
    "32x32b": lambda t, r, x: (t, r),
    "16x64b": lambda t, r, x: (t // 4 + 8 * (t % 2), t // 2 % 2 + 2 * r),
    "16x128b": lambda t, r, x: (t // 4 + 8 * (r % 2), t % 4 + 4 * (r // 2)),
    "16x256b": lambda t, r, x: (t // 4 + 8 * (r // 2 % 2), 2 * (t % 4) + r % 2 + 8 * (r // 4)),
    "16x32bx2": lambda t, r, x: (t % 16, r + x * (t // 16)),
}

REPEATED = [
    (shape, 1 << i)
    for shape, entry in MOVE_SHAPES.items()
    for i in range(entry.max_repetitions.bit_length())
]


@pytest.mark.parametrize(("shape", "repetitions"), REPEATED)
def test_loads(shape, repetitions):
    layout = move_registers(shape, repetitions)
    threads, registers = layout[0].size(), layout[1].size()
    thread, register = np.arange(threads)[None, :], np.arange(registers)[:, None]
    lanes, columns = np.broadcast_arrays(*MOVE_FORMULAS[shape](thread, register, repetitions))
    assert threads == 32
    assert np.array_equal(table(layout, LANE), lanes.ravel())
    assert np.array_equal(table(layout, COLUMN), columns.ravel())
    assert is_injective(layout)


@pytest.mark.parametrize(("shape", "repetitions"), REPEATED)
def test_packed_loads(shape, repetitions):
    """Each column becomes two, a half of the register from each."""
    layout = move_registers(shape, repetitions, packed=True)
    thread, half = np.arange(32)[None, :], np.arange(layout[1].size())[:, None]
    lanes, columns = np.broadcast_arrays(*MOVE_FORMULAS[shape](thread, half // 2, repetitions))
    assert np.array_equal(table(layout, LANE), lanes.ravel())
    assert np.array_equal(table(layout, COLUMN), (2 * columns + half % 2).ravel())


def test_largest_loads_fill_128_registers():
    sizes = {
        s: move_registers(s, entry.max_repetitions)[1].size() for s, entry in MOVE_SHAPES.items()
    }
    assert sizes == dict.fromkeys(MOVE_SHAPES, 128)


# CUTLASS DstLayout of the x1 forms in 32-bit units: lane * width + column
LINEAR = {
    "32x32b": (1, "(32,1):(1,1)"),
    "16x64b": (2, "((2,2,8),1):((16,1,2),1)"),
    "16x128b": (4, "((4,8),(1,2)):((1,4),(1,32))"),
    "16x256b": (8, "((4,8),(2,2)):((2,8),(1,64))"),
    "16x32bx2": (2, "((16,2),1):((2,1),1)"),
}


@pytest.mark.parametrize("shape", LINEAR)
def test_linear_forms_of_cutlass(shape):
    width, text = LINEAR[shape]
    linear = counted(move_registers(shape), width)
    assert np.array_equal(flat_table(linear), flat_table(parse_cute_layout(text)))


# CUTLASS DstLayout of the x1 and x2 `_16b` forms in 16-bit units: lane * width + column
LINEAR_PACKED = {
    ("32x32b", 1): (2, "(32,2):(2,1)"),
    ("16x64b", 1): (4, "((2,2,8),2):((32,2,4),1)"),
    ("16x128b", 1): (8, "((4,8),(2,2)):((2,8),(1,64))"),
    ("16x128b", 2): (16, "((4,8),(2,2,2)):((2,16),(1,128,8))"),
    ("16x256b", 1): (16, "((4,8),(4,2)):((4,16),(1,128))"),
    ("16x256b", 2): (32, "((4,8),(4,2,2)):((4,32),(1,256,16))"),
    ("16x32bx2", 1): (4, "((16,2),2):((4,2),1)"),
}


@pytest.mark.parametrize(("shape", "repetitions"), LINEAR_PACKED)
def test_packed_forms_of_cutlass(shape, repetitions):
    width, text = LINEAR_PACKED[shape, repetitions]
    linear = counted(move_registers(shape, repetitions, packed=True), width)
    assert np.array_equal(flat_table(linear), flat_table(parse_cute_layout(text)))


def test_second_half_at_an_offset():
    layout = move_registers("16x32bx2", 4, half_offset=64)
    assert np.array_equal(table(layout, COLUMN)[:32], np.repeat([0, 64], 16))
    assert table(move_registers("16x32bx2", 4, 508), COLUMN).max() == 511


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: accumulator(96, 64), "no accumulator has M 96 with 1 CTAs"),
        (lambda: accumulator(128, 17, 2), "N 17 is not a multiple of 16 in 16..256"),
        (lambda: accumulator(128, 3), "N 3 is not a multiple of 8 in 8..256"),
        (lambda: accumulator(128, 12), "N 12 is not a multiple of 8"),
        (lambda: accumulator(256, 24, 2), "N 24 is not a multiple of 16"),
        (lambda: accumulator(128, 64.0), r"N is 64\.0, not an integer"),
        (lambda: accumulator(128.0, 64), r"M is 128\.0, not an integer"),
        (lambda: accumulator(128, 513), "N 513 is not a multiple of 8 in 8..256"),
        (lambda: accumulator(128, 512, 2), "N 512 is not a multiple of 16 in 16..256"),
        (lambda: move_registers("16x512b"), "no shape 16x512b; known: 32x32b"),
        (lambda: move_registers("16x256b", 64), "up to 32 times, not 64"),
        (lambda: move_registers("32x32b", 3), "not 3"),
        (lambda: move_registers("32x32b", 2, 4), "no second half"),
        (lambda: move_registers("32x32b", 128.0), r"repetitions is 128\.0, not an integer"),
        (lambda: move_registers("16x32bx2", 128, 600), r"second half is 600, not in 0\.\.384"),
        (lambda: move_registers("16x32bx2", 4, 509), r"second half is 509, not in 0\.\.508"),
        (lambda: move_registers("16x32bx2", 4, 505, packed=True), r"is 505, not in 0\.\.504"),
        (lambda: move_registers("16x32bx2", 4, -1), r"second half is -1, not in 0\.\.508"),
        (lambda: move_registers("16x32bx2", 4, 2.0), r"second half is 2\.0, not an integer"),
    ],
)
def test_refusals(call, words):
    with pytest.raises(TargetError, match=words):
        call()

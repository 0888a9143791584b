"""Lines that each warp holds are exchanged in buffers of its own, without a barrier."""

import numpy as np

from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.convert import SharedPlan, plan_conversion
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS
from tileas_xdsl.layout.convert.shared import MAX_COPIED_BYTES, plan_shared
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.register_layout import ElementTable, RegisterLayout

COLUMNS, WARPS = 128, 8


def line(columns: int = COLUMNS) -> RegisterLayout:
    """A line of which lanes have neighbours, the same in each warp."""
    each = columns // 32
    layout = Layout(((each, 32), WARPS), ((E("value"), E("thread")), E("thread", 32)))
    return RegisterLayout(layout, (columns,), 32 * WARPS)


def of_accumulators(columns: int = COLUMNS) -> ElementTable:
    """What lanes read for their columns of an accumulator: two neighbours of each eight."""
    thread = np.arange(32 * WARPS)[:, None]
    register = np.arange(columns // 4)[None]
    return ElementTable(register // 2 * 8 + thread % 4 * 2 + register % 2, (columns,))


def plan(copied: bool, columns: int = COLUMNS) -> SharedPlan:
    found = plan_shared(line(columns), of_accumulators(columns), 32, DEFAULT_WEIGHTS, copied=copied)
    registers = np.arange(columns)[line(columns).held]
    assert (found.apply(registers) == of_accumulators(columns).held).all()
    return found


def test_warps_that_share_a_buffer_meet() -> None:
    found = plan(copied=False)
    assert (found.copies, found.cost.barriers, found.bytes) == (1, 1, 4 * COLUMNS)


def test_warps_with_a_copy_each_do_not() -> None:
    found = plan(copied=True)
    assert (found.copies, found.cost.barriers, found.bytes) == (WARPS, 0, 4 * COLUMNS * WARPS)
    assert f"{WARPS} times" in found.explain()
    assert (found.store.bits >= 0).all()


def test_long_lines_have_one_buffer() -> None:
    columns = 2 * MAX_COPIED_BYTES // 4 // WARPS
    assert plan(copied=True, columns=columns).copies == 1


def test_what_other_warps_hold_has_one_buffer() -> None:
    apart = RegisterLayout(Layout((32 * WARPS,), (E("thread"),)), (32 * WARPS,), 32 * WARPS)
    table = (np.arange(32 * WARPS)[:, None] + 32) % (32 * WARPS)
    found = plan_conversion(apart, ElementTable(table, (32 * WARPS,)), 32, copied=True)
    assert isinstance(found, SharedPlan)
    assert (found.copies, found.cost.barriers) == (1, 1)

"""Every plan is executed on random registers and compared with the relayout it stands for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.convert import (
    Kind,
    Plan,
    RegisterPlan,
    SharedPlan,
    ShufflePlan,
    Weights,
    plan_conversion,
)
from tileas_xdsl.layout.convert.assembly import assembly_cost
from tileas_xdsl.layout.convert.buffers import candidates
from tileas_xdsl.layout.convert.plan import Cost
from tileas_xdsl.layout.convert.shuffle_rounds import Delivery, edge_colouring, first_fit, schedules
from tileas_xdsl.layout.convert.synthesis import xor_orders
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.registers.register_layout import (
    RegisterLayout,
    register_layout_from_table,
    register_layout_from_tv,
)

relaxed = settings(deadline=None, max_examples=40)


def wgmma_accumulator(columns: int) -> RegisterLayout:
    tv = Layout(((4, 8, 4), (2, 2, columns // 8)), ((128, 1, 16), (64, 8, 512)))
    return register_layout_from_tv(tv, (64, columns))


def blocked(tile: tuple[int, int], run: int, lanes: int, threads: int) -> RegisterLayout:
    """Row-major: runs of `run` columns, `lanes` threads beside each other, the rest below."""
    rows, columns = tile
    below = threads // lanes
    assert columns % (run * lanes) == 0
    assert rows % below == 0
    held = np.arange(rows * columns).reshape(rows // below, below, -1, lanes, run)
    held = held.transpose(1, 3, 0, 2, 4).reshape(threads, -1)
    return register_layout_from_table(held // columns + rows * (held % columns), tile)


def transposed(fragment: RegisterLayout) -> RegisterLayout:
    """The same registers for the transpose of a square tile."""
    rows, columns = fragment.shape
    return register_layout_from_table(
        fragment.held // rows + columns * (fragment.held % rows), (columns, rows)
    )


def check(plan: Plan, seed: int = 0) -> None:
    rng = np.random.default_rng(seed)
    tile = rng.integers(1, 1 << 40, plan.source.elements)
    garbage = rng.integers(1, 1 << 40, plan.source.held.shape)
    registers = np.where(plan.source.held < 0, garbage, tile[plan.source.held])
    expected = np.where(plan.target.held < 0, 0, tile[plan.target.held])
    assert np.array_equal(plan.apply(registers), expected), plan.explain()


def every_way(source: RegisterLayout, target: RegisterLayout, bits: int) -> dict[Kind, Plan]:
    """The default plan and every kind that can serve at all, all executed."""
    default = plan_conversion(source, target, bits)
    check(default)
    kinds: tuple[Kind, ...] = ("identity", "permutation", "shuffle", "shared")
    found: dict[Kind, Plan] = {}
    for kind in kinds:
        try:
            found[kind] = plan_conversion(source, target, bits, force=kind)
        except LayoutError:
            continue
        check(found[kind])
    assert default.kind in found
    return found


# The kinds


def test_identity_costs_nothing() -> None:
    plan = plan_conversion(wgmma_accumulator(64), wgmma_accumulator(64), 16)
    check(plan)
    assert plan.kind == "identity"
    assert plan.cost.instructions == 0
    assert plan.cost.cycles == 0
    assert plan.explain().startswith("identity")


def test_accumulator_to_operand_of_the_next_mma() -> None:
    """Attention: the m16n8 accumulators of two steps are the A operand of m16n8k16."""
    values = ((2, 2, 2), (16, 8, 128))
    accumulators = register_layout_from_tv(
        Layout(((4, 8), (2, 2, 2)), ((32, 1), values[1])), (16, 16)
    )
    operand = register_layout_from_tv(
        Layout(((4, 8), (2, 2, 2)), ((32, 1), (16, 8, 128))), (16, 16)
    )
    assert plan_conversion(accumulators, operand, 16).kind == "identity"
    step_by_step = register_layout_from_tv(
        Layout(((4, 8), (2, 2, 2)), ((32, 1), (16, 128, 8))), (16, 16)
    )
    plan = plan_conversion(step_by_step, operand, 16)
    check(plan)
    assert isinstance(plan, RegisterPlan)
    assert plan.kind == "permutation"
    assert plan.cost.instructions == 0
    assert "at no cost" in plan.explain()


def test_permutation_inside_words_packs() -> None:
    """Halves that change partners: each word is packed from two others."""
    pairs = register_layout_from_tv(Layout((32, (2, 2)), (4, (1, 2))), (128,))
    across = register_layout_from_tv(Layout((32, (2, 2)), (4, (2, 1))), (128,))
    plan = plan_conversion(pairs, across, 16)
    check(plan)
    assert plan.kind == "permutation"
    assert plan.cost.alu == 2
    assert plan_conversion(pairs, across, 32).cost.alu == 0


def test_registers_that_differ_by_thread_are_selected() -> None:
    """Every other thread takes its two registers in the opposite order."""
    sources = np.array([[0, 1], [1, 0]] * 16)
    assert assembly_cost(sources, 32) == 2
    assert assembly_cost(sources, 64) == 4
    assert assembly_cost(sources, 16) == 3
    assert assembly_cost(np.array([[0, 1], [-1, 1]] * 16), 16) == 0


def test_packing_below_a_byte_takes_two_instructions_an_element() -> None:
    """Eight halves of bytes make a word: a shift and an insert for each that there is."""
    swapped = np.array([[1, 0, 2, 3, 4, 5, 6, 7]])
    assert assembly_cost(swapped, 4) == 16
    assert assembly_cost(np.array([[1, 0, -1, -1, 4, 5, -1, -1]]), 4) == 8
    assert assembly_cost(swapped, 8) == 1


def test_cycles_are_the_sum_of_what_is_counted() -> None:
    weights = Weights(2.0, 3.0, 5.0, 7.0, 11.0, 13.0, 17.0)
    counts = Cost(shuffles=1, alu=10, stores=100, loads=1000)
    assert Cost().estimated(4, weights).cycles == 0
    assert Cost(shuffles=1).estimated(4, weights).cycles == 4 * 3 + 17
    assert Cost(stores=1).estimated(4, weights).cycles == 4 * 7
    assert Cost(loads=1).estimated(4, weights).cycles == 4 * 7 + 13
    moved = 4 * (3 + 10 * 5 + 1100 * 7) + 13 + 17
    assert counts.estimated(4, weights).cycles == moved
    whole = replace(counts, wavefronts_stored=6, wavefronts_loaded=8, barriers=2)
    assert whole.estimated(4, weights).cycles == moved + 14 * 2 + 2 * 11


def test_exchange_with_a_neighbour_is_shuffled() -> None:
    """A lane bit and a register bit are exchanged: one shuffle, one select before, two after."""
    source = register_layout_from_tv(Layout((32, 2), (2, 1)), (64,))
    target = register_layout_from_tv(Layout(((2, 16), 2), ((1, 4), 2)), (64,))
    plan = plan_conversion(source, target, 32)
    check(plan)
    assert isinstance(plan, ShufflePlan)
    assert plan.rounds == plan.lower_bound == 1
    assert plan.cost.shuffles == 1
    assert plan.cost.alu == 3
    assert np.array_equal(plan.source_thread[0], np.arange(32) ^ 1)
    assert plan.cost.cycles < plan_conversion(source, target, 32, force="shared").cost.cycles
    assert "1 round" in plan.explain()


def test_double_words_take_two_shuffles() -> None:
    source = register_layout_from_tv(Layout((32, 2), (2, 1)), (64,))
    target = register_layout_from_tv(Layout(((2, 16), 2), ((1, 4), 2)), (64,))
    plan = plan_conversion(source, target, 64, force="shuffle")
    check(plan)
    assert plan.cost.shuffles == 2
    assert plan.cost.alu == 6


def test_shuffles_may_lose_against_shared_memory() -> None:
    source, target = blocked((32, 32), 32, 1, 32), transposed(blocked((32, 32), 32, 1, 32))
    found = every_way(source, target, 32)
    assert set(found) == {"shuffle", "shared"}
    shuffle = found["shuffle"]
    assert isinstance(shuffle, ShufflePlan)
    assert shuffle.rounds == shuffle.lower_bound == 31
    default = plan_conversion(source, target, 32)
    assert isinstance(default, SharedPlan)
    assert default.cost.barriers == 0
    assert (
        plan_conversion(source, target, 32, weights=Weights(wavefront=1000.0, alu=0.1)).kind
        == "shuffle"
    )


@pytest.mark.parametrize("bits", [4, 6, 8, 16, 32, 64])
@pytest.mark.parametrize("columns", [48, 64, 96])
def test_wgmma_accumulator_to_row_major(columns: int, bits: int) -> None:
    source = wgmma_accumulator(columns)
    target = blocked((64, columns), 4, columns // 16, 128 if columns == 64 else 32 * columns // 16)
    if target.threads != 128:
        with pytest.raises(LayoutError, match=f"128 threads and {target.threads} threads"):
            plan_conversion(source, target, bits)
        target = blocked((64, columns), 2, columns // 48 * 8, 128)
    plan = plan_conversion(source, target, bits)
    check(plan)
    assert plan.kind == "shared"
    assert plan.cost.barriers == 1


def test_halves_of_an_accumulator_take_stmatrix() -> None:
    plan = plan_conversion(wgmma_accumulator(64), blocked((64, 64), 8, 8, 128), 16)
    check(plan)
    assert isinstance(plan, SharedPlan)
    assert plan.store.instruction == "stmatrix.m8n8.x4"
    assert plan.load.instruction == "ld.shared.v4.b32"
    assert plan.buffer.name == "row-major with the 128B swizzle"
    assert plan.cost.wavefronts_stored == plan.cost.wavefronts_loaded == 64
    assert plan.cost.shared_bytes == 64 * 64 * 2
    assert "64 + 64 wavefronts, 1 barrier" in plan.explain()


@pytest.mark.parametrize("bits", [16, 32])
def test_wide_accumulator_without_conflicts(bits: int) -> None:
    """Rows of 256 elements outgrow the byte swizzles; the synthesised order has no conflicts."""
    plan = plan_conversion(wgmma_accumulator(256), blocked((64, 256), 4, 32, 128), bits)
    check(plan)
    assert plan.cost.wavefronts == 2 * 64 * 256 * bits // 1024


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_transposes(bits: int) -> None:
    source = blocked((64, 64), 8, 8, 128)
    plan = plan_conversion(source, transposed(source), bits)
    check(plan)
    assert plan.kind == "shared"


def test_transpose_of_halves_takes_transposed_matrices() -> None:
    source = wgmma_accumulator(64)
    target = transposed(blocked((64, 64), 8, 8, 128))
    plan = plan_conversion(source, target, 16)
    check(plan)
    assert isinstance(plan, SharedPlan)
    assert plan.store.instruction == "stmatrix.m8n8.x4.trans"
    assert plan.cost.wavefronts == 128


def test_widening_below_a_byte_is_paid_for() -> None:
    """Pairs of 4-bit elements stay together on one side only: each gets a byte of its own."""
    source, target = blocked((32, 32), 8, 4, 32), transposed(blocked((32, 32), 8, 4, 32))
    nibbles = plan_conversion(source, target, 4, force="shared")
    bytes_ = plan_conversion(source, target, 8, force="shared")
    check(nibbles)
    assert isinstance(nibbles, SharedPlan)
    assert nibbles.buffer.elem_bits == 8
    assert nibbles.cost.alu >= bytes_.cost.alu + 2 * 2 * 32


# Replicas


def replicated(columns: int) -> RegisterLayout:
    """Every row in one quad of lanes, all four lanes holding the same."""
    layout = Layout((8, columns, 4), (E("thread", 4), E("value"), E("thread")))
    return RegisterLayout(layout, (8, columns), 32)


def test_nearest_replica_needs_no_shuffle() -> None:
    source = replicated(4)
    target = register_layout_from_tv(Layout(((4, 8), 1), ((8, 1), 0)), (8, 4))
    plan = plan_conversion(source, target, 32)
    check(plan)
    assert plan.kind == "permutation"
    assert plan.cost.alu == 3


def test_replicas_are_written() -> None:
    target = replicated(4)
    source = register_layout_from_tv(Layout(((4, 8), 1), ((8, 1), 0)), (8, 4))
    found = every_way(source, target, 32)
    assert set(found) == {"shuffle", "shared"}
    shuffle = found["shuffle"]
    assert isinstance(shuffle, ShufflePlan)
    assert shuffle.rounds == shuffle.lower_bound == 3
    assert plan_conversion(source, target, 32).kind == "shuffle"


def test_replicas_in_registers_and_across_warps() -> None:
    twice = RegisterLayout(
        Layout((64, 2, 2), (E("thread"), E("value"), E("value", 2))), (64, 2), 64
    )
    once = register_layout_from_tv(Layout((64, 2), (2, 1)), (128,))
    once = RegisterLayout(Layout((64, 2), (E("thread"), E("value"))), (64, 2), 64)
    found = every_way(twice, once, 32)
    assert "identity" in found
    found = every_way(once, twice, 16)
    assert set(found) == {"permutation", "shuffle", "shared"}
    both = RegisterLayout(
        Layout((32, 4, 2), (E("thread"), E("value"), E("thread", 32))), (32, 4), 64
    )
    halves = RegisterLayout(
        Layout((32, (2, 2)), (E("thread"), (E("value"), E("thread", 32)))), (32, 4), 64
    )
    found = every_way(both, halves, 32)
    assert "permutation" in found
    found = every_way(halves, both, 32)
    assert set(found) == {"shared"}
    assert found["shared"].cost.barriers == 1


def test_only_one_replica_is_stored() -> None:
    both = RegisterLayout(
        Layout((32, 4, 2), (E("thread"), E("value"), E("thread", 32))), (32, 4), 64
    )
    plan = plan_conversion(both, blocked((32, 4), 1, 4, 64), 32, force="shared")
    check(plan)
    assert isinstance(plan, SharedPlan)
    assert plan.cost.wavefronts_stored == 4


def test_empty_registers_and_idle_threads() -> None:
    """Every other register is empty, every other thread idle, and all of warp 1."""
    sparse = RegisterLayout(Layout((8, 3), (E("thread", 2), E("value", 2))), (8, 3), 64)
    dense = RegisterLayout(Layout((8, 3), (E("thread"), E("thread", 8))), (8, 3), 64)
    every_way(sparse, dense, 32)
    every_way(dense, sparse, 16)


# Refusals


def test_unlike_fragments_are_refused() -> None:
    with pytest.raises(LayoutError, match="128 threads and 32 threads"):
        plan_conversion(wgmma_accumulator(8), blocked((64, 8), 8, 1, 32), 16)
    with pytest.raises(LayoutError, match=r"a \(64,8\) tile to a \(64,16\) tile"):
        plan_conversion(wgmma_accumulator(8), wgmma_accumulator(16), 16)
    with pytest.raises(LayoutError, match="256 bits"):
        plan_conversion(wgmma_accumulator(8), wgmma_accumulator(8), 256)
    plan = plan_conversion(wgmma_accumulator(8), wgmma_accumulator(8), 16)
    with pytest.raises(LayoutError, match="the source has"):
        plan.apply(np.zeros((128, 5)))


def test_a_kind_that_cannot_serve_names_a_register() -> None:
    source, target = wgmma_accumulator(64), blocked((64, 64), 8, 8, 128)
    kinds: tuple[Kind, ...] = ("identity", "permutation", "shuffle")
    for kind in kinds:
        with pytest.raises(LayoutError, match=f"no {kind} converts .*register .* of thread"):
            plan_conversion(source, target, 16, force=kind)


# Random fragments


@st.composite
def digit_fragments(draw: st.DrawFn, tile: tuple[int, ...], threads: int) -> RegisterLayout:
    """The prime digits of the tile's index dealt out to threads and registers in any order."""
    digits: list[tuple[int, int]] = []
    weight = 1
    for extent in tile:
        while extent > 1:
            prime = next(p for p in (2, 3, 5) if extent % p == 0)
            digits.append((prime, weight))
            weight *= prime
            extent //= prime
    order = draw(st.permutations(digits))
    of_threads: list[tuple[int, int]] = []
    rest: list[tuple[int, int]] = []
    left = threads
    for prime, stride in order:
        if left % prime == 0:
            of_threads.append((prime, stride))
            left //= prime
        else:
            rest.append((prime, stride))
    modes = [
        (tuple(s for s, _ in part) or 1, tuple(d for _, d in part) or 0)
        for part in (of_threads, rest)
    ]
    tv = Layout((modes[0][0], modes[1][0]), (modes[0][1], modes[1][1]))
    fragment = register_layout_from_tv(tv, tile)
    return RegisterLayout(fragment.layout, tile, threads)


SIZES = st.sampled_from(
    [((16, 8), 32), ((8, 48), 64), ((32, 16), 128), ((12, 16), 96), ((16, 24), 24), ((64,), 32)]
)


@relaxed
@given(st.data(), SIZES, st.sampled_from([4, 8, 16, 32, 64]))
def test_random_digit_fragments(
    data: st.DataObject, size: tuple[tuple[int, ...], int], bits: int
) -> None:
    source = data.draw(digit_fragments(*size))
    target = data.draw(digit_fragments(*size))
    found = every_way(source, target, bits)
    assert "shared" in found
    default = plan_conversion(source, target, bits)
    if "permutation" in found:
        assert default.kind in ("identity", "permutation")
    else:
        assert default.cost.cycles == min(plan.cost.cycles for plan in found.values())
    if "shuffle" in found:
        shuffle = found["shuffle"]
        assert isinstance(shuffle, ShufflePlan)
        assert shuffle.lower_bound <= shuffle.rounds
        assert ("permutation" in found) == (shuffle.rounds == 0)


# Rounds


@st.composite
def deliveries(draw: st.DrawFn) -> list[Delivery]:
    lanes = draw(st.integers(2, 8))
    return draw(
        st.lists(
            st.builds(
                Delivery,
                st.integers(0, lanes - 1),
                st.integers(0, 5),
                st.integers(0, lanes - 1),
                st.integers(0, 5),
            ),
            max_size=40,
            unique_by=lambda d: (d.sender, d.message, d.receiver),
        )
    )


@relaxed
@given(deliveries())
def test_schedules_are_valid_and_colourings_least(found: list[Delivery]) -> None:
    for rounds in schedules(found):
        received = [(r, d.receiver) for r, d in zip(rounds, found, strict=True)]
        assert len(set(received)) == len(received)
        offers: dict[tuple[int, int], set[int]] = {}
        for r, d in zip(rounds, found, strict=True):
            offers.setdefault((r, d.sender), set()).add(d.message)
        assert all(len(messages) == 1 for messages in offers.values())
    degrees = [0]
    for side in ("sender", "receiver"):
        lanes = [getattr(d, side) for d in found]
        degrees += [lanes.count(lane) for lane in set(lanes)]
    assert max((r + 1 for r in edge_colouring(found)), default=0) == max(degrees)


def test_a_shared_message_travels_once() -> None:
    broadcast = [Delivery(0, 7, lane, 0) for lane in range(1, 32)]
    assert set(first_fit(broadcast, lambda d: (d.receiver,))) == {0}
    assert len(set(edge_colouring(broadcast))) == 31


# Orders of a buffer


@relaxed
@given(st.data(), SIZES, st.sampled_from([1, 2, 4, 6, 8, 16, 32, 64]))
def test_elements_of_a_buffer_do_not_overlap(
    data: st.DataObject, size: tuple[tuple[int, ...], int], bits: int
) -> None:
    source, target = data.draw(digit_fragments(*size)), data.draw(digit_fragments(*size))
    buffers = list(candidates(source, target, bits))
    assert buffers
    for buffer in buffers:
        assert buffer.elem_bits >= bits
        where = np.sort(buffer.bits)
        assert where[0] >= 0
        assert (np.diff(where) >= buffer.elem_bits).all(), buffer.name
        assert buffer.bytes * 8 >= where[-1] + buffer.elem_bits
        assert (buffer.bits // buffer.elem_bits * buffer.elem_bits == buffer.bits).all()


@relaxed
@given(st.data(), st.sampled_from([16, 32, 64]))
def test_synthesised_orders_are_permutations(data: st.DataObject, bits: int) -> None:
    source = data.draw(digit_fragments((32, 32), 64))
    target = data.draw(digit_fragments((32, 32), 64))
    orders = list(xor_orders(source, target, bits))
    assert orders
    for _, offsets in orders:
        assert sorted(offsets.tolist()) == list(range(1024))


@relaxed
@given(st.data())
def test_words_never_conflict_in_the_synthesised_order(data: st.DataObject) -> None:
    """Two subspaces of one dimension have a common complement: any two fragments get along."""
    source = data.draw(digit_fragments((32, 32), 32))
    target = data.draw(digit_fragments((32, 32), 32))
    plan = plan_conversion(source, target, 32, force="shared")
    assert plan.cost.wavefronts == 64

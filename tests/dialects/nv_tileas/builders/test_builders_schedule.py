"""From a schedule to IR: loop-carried values, dependences, replicas that keep their stage."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ir import parse
from xdsl.builder import Builder
from xdsl.dialects import scf, test
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.builders.schedule import (
    MaterializeOptions,
    Schedule,
    ScheduledOp,
    StageMap,
    UnionConstraint,
    build_stages,
    collect_operand_sources,
    expand_single_tiled_op,
    materialize_schedule,
)

GEMM = """
    %va, %vb, %vc, %i, %acc = "test.op"() : () -> (!nv_tileas.tiled_view<64x32xf16, gmem>, !nv_tileas.tiled_view<32x64xf16, gmem>, !nv_tileas.tiled_view<64x64xf32, gmem>, index, tensor<64x64xf32>)
    %a = nv_tileas.tiled_load %va[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
    %b = nv_tileas.tiled_load %vb[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<32x64xf16, gmem> -> tensor<32x64xf16>
    %d = nv_tileas.dot %a, %b, %acc {atom = #nv_tileas<atom mma_f16_f16_f32>} : tensor<64x32xf16>, tensor<32x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    nv_tileas.tiled_store %d, %vc[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x64xf32>, !nv_tileas.tiled_view<64x64xf32, gmem>
"""  # noqa: E501


def gemm() -> tuple[ModuleOp, list[Operation]]:
    """Two loads, a product and a store."""
    module = parse(GEMM)
    return module, list(module.ops)[1:]


def test_what_stays_and_what_is_carried() -> None:
    _, (load_a, load_b, dot, store) = gemm()
    schedule = Schedule(
        (
            ScheduledOp(store, 3, 0),
            ScheduledOp(dot, 2, 0),
            ScheduledOp(load_b, 0, 1),
            ScheduledOp(load_a, 0, 0, resident=True),
        )
    )
    found = materialize_schedule(schedule)
    assert found.resident_loads == (load_a,)
    assert [(p.op, p.stage, p.distance) for p in found.pending_loads] == [(load_b, 0, 2)]
    assert found.resident_stores == ()
    assert [(p.op, p.stage, p.distance) for p in found.pending_stores] == [(store, 3, 1)]
    assert found.resident_async == (load_a,)
    assert found.pending_async == found.pending_loads


def test_options_of_a_target() -> None:
    _, ops = gemm()
    load_a, load_b, _, store = ops
    schedule = Schedule(
        tuple(ScheduledOp(op, 0, order, resident=True) for order, op in enumerate(ops))
    )
    found = materialize_schedule(schedule, MaterializeOptions(async_eligible=frozenset()))
    assert found.resident_loads == (load_a, load_b)
    assert found.resident_stores == (store,)
    assert found.resident_async == ()
    carried = materialize_schedule(schedule, MaterializeOptions(keep_resident=False))
    assert [p.op for p in carried.pending_loads] == [load_a, load_b]
    assert carried.resident_loads == ()


def test_data_does_not_travel_back() -> None:
    _, (load_a, _, dot, _) = gemm()
    schedule = Schedule((ScheduledOp(load_a, 2, 0), ScheduledOp(dot, 1, 0)))
    with pytest.raises(ValueError, match="in stage 2 is used in an earlier stage"):
        materialize_schedule(schedule)


def test_unions_become_pairs_in_the_order_of_the_schedule() -> None:
    _, (load_a, load_b, dot, store) = gemm()
    schedule = Schedule(
        (
            ScheduledOp(load_a, 0, 1),
            ScheduledOp(load_b, 0, 0),
            ScheduledOp(dot, 2, 0),
            ScheduledOp(store, 3, 0),
        )
    )
    unions = [
        UnionConstraint((dot, store)),
        UnionConstraint((load_a,)),
        UnionConstraint((load_a, dot)),
    ]
    early = build_stages([UnionConstraint((dot, load_b, load_a))], schedule)
    late = build_stages(unions, schedule)
    (pair,) = early
    assert [p.op for p in pair.producers] == [load_b, load_a]
    assert [p.op for p in pair.consumers] == [dot]
    assert (pair.stage, pair.depth) == (0, 3)
    (merged,) = late
    assert [p.op for p in merged.producers] == [load_a]
    assert [p.op for p in merged.consumers] == [dot, store]
    assert merged.depth == 4


def test_separate_unions_are_ordered_by_their_first_producer() -> None:
    module = parse(GEMM + "\n".join(GEMM.replace("%", "%x").splitlines()))
    load_a, load_b, dot, _, _, other_a, _, other_dot, _ = list(module.ops)[1:]
    schedule = Schedule(
        (
            ScheduledOp(load_a, 1, 0),
            ScheduledOp(load_b, 1, 1),
            ScheduledOp(dot, 2, 0),
            ScheduledOp(other_a, 0, 0),
            ScheduledOp(other_dot, 1, 2),
        )
    )
    unions = [UnionConstraint((load_a, load_b, dot)), UnionConstraint((other_a, other_dot))]
    pairs = build_stages(unions, schedule)
    assert [(pair.stage, pair.depth) for pair in pairs] == [(0, 2), (1, 2)]
    with pytest.raises(ValueError, match=r"no member of the union '.*' feeds another one"):
        build_stages([UnionConstraint((load_b,))], schedule)


def test_unions_that_cannot_be() -> None:
    _, (load_a, _, dot, _) = gemm()
    with pytest.raises(ValueError, match=r"'nv_tileas\.dot' has no place in the schedule"):
        build_stages([UnionConstraint((load_a, dot))], Schedule((ScheduledOp(load_a, 0, 0),)))
    backwards = Schedule((ScheduledOp(load_a, 1, 0), ScheduledOp(dot, 0, 0)))
    with pytest.raises(ValueError, match=r"'nv_tileas\.dot' is scheduled before what it uses"):
        build_stages([UnionConstraint((load_a, dot))], backwards)


BRANCH = """
    %v, %i, %p = "test.op"() : () -> (!nv_tileas.tiled_view<64x32xf16, gmem>, index, i1)
    %a = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
    scf.if %p {
      nv_tileas.tiled_store %a, %v[%i, %i] {atom = #nv_tileas<atom stg>} : tensor<64x32xf16>, !nv_tileas.tiled_view<64x32xf16, gmem>
    }
"""  # noqa: E501


@pytest.mark.parametrize("inner", [False, True])
def test_uses_inside_regions_count(inner: bool) -> None:
    """Where the branch has the place, or the store inside it."""
    load, branch = list(parse(BRANCH).ops)[1:]
    user = branch.regions[0].block.first_op if inner else branch
    assert user is not None
    schedule = Schedule((ScheduledOp(load, 0, 0), ScheduledOp(user, 2, 0)))
    (pending,) = materialize_schedule(schedule).pending_loads
    assert pending.distance == 2
    (pair,) = build_stages([UnionConstraint((load, user))], schedule)
    assert ([p.op for p in pair.consumers], pair.depth) == ([user], 3)


def test_what_holds_an_access_is_not_its_user() -> None:
    """A scheduled loop around a load and the unscheduled use of it has no part in the distance."""
    module = parse(
        """
        %v, %i, %p = "test.op"() : () -> (!nv_tileas.tiled_view<8x8xf16, gmem>, index, i1)
        scf.if %p {
          %a = nv_tileas.tiled_load %v[%i, %i] {atom = #nv_tileas<atom ldg>} :
              !nv_tileas.tiled_view<8x8xf16, gmem> -> tensor<8x8xf16>
          "test.op"(%a) : (tensor<8x8xf16>) -> ()
        }
        """
    )
    branch = module.body.block.last_op
    assert branch is not None
    load = branch.regions[0].block.first_op
    assert load is not None
    schedule = Schedule((ScheduledOp(load, 1, 0), ScheduledOp(branch, 3, 0)))
    (pending,) = materialize_schedule(schedule).pending_loads
    assert pending.distance == 0


def test_every_user_and_every_source_is_in_time() -> None:
    module, (load_a, _, dot, store) = gemm()
    other, twice = store.clone(), dot.clone()
    module.body.block.add_ops([other, twice])
    early = Schedule((ScheduledOp(dot, 3, 0), ScheduledOp(store, 2, 0), ScheduledOp(other, 4, 0)))
    with pytest.raises(ValueError, match="tiled_store' in stage 2 is scheduled before what it use"):
        materialize_schedule(early)
    read = Schedule((ScheduledOp(load_a, 1, 0), ScheduledOp(dot, 0, 0), ScheduledOp(twice, 2, 0)))
    with pytest.raises(ValueError, match="in stage 1 is used in an earlier stage"):
        materialize_schedule(read)


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[Operation], list[tuple[int, int]], list[int]]:
    """Generate operations with uses in nested regions, their def-use pairs, and their stages."""
    count = draw(st.integers(2, 6))
    pairs = [(i, j) for j in range(count) for i in range(j)]
    edges = draw(st.lists(st.sampled_from(pairs), unique=True))
    ops: list[Operation] = []
    for j in range(count):
        used = [ops[i].results[0] for i, user in edges if user == j]
        if draw(st.booleans()):
            inner = test.TestOp(operands=used)
            ops.append(test.TestOp(result_types=[IndexType()], regions=[Region(Block([inner]))]))
        else:
            ops.append(test.TestOp(operands=used, result_types=[IndexType()]))
    ModuleOp(ops)
    return ops, edges, draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))


@given(programs())
def test_random_unions(program: tuple[list[Operation], list[tuple[int, int]], list[int]]) -> None:
    """A union is refused exactly where an edge of it goes back, or where it has none."""
    ops, edges, stages = program
    schedule = Schedule(tuple(ScheduledOp(op, stages[i], i) for i, op in enumerate(ops)))
    union = [UnionConstraint(tuple(ops))]
    if not edges or any((stages[i], i) > (stages[j], j) for i, j in edges):
        with pytest.raises(ValueError, match=r"feeds another one|is scheduled before what it uses"):
            build_stages(union, schedule)
        return
    (pair,) = build_stages(union, schedule)
    consumers = {j for _, j in edges}
    assert {ops.index(p.op) for p in pair.consumers} == consumers
    assert {ops.index(p.op) for p in pair.producers} == set(range(len(ops))) - consumers


def test_replicas_use_the_replicas_of_their_own_stage() -> None:
    module, (load_a, load_b, dot, store) = gemm()
    builder = Builder(InsertPoint.at_end(module.body.block))
    coordinate = load_a.operands[1]
    per_stage = {stage: constant(builder, 64 * stage) for stage in (0, 1, 2)}
    stages = StageMap((0, 1, 2), {coordinate: per_stage})
    ops = (load_a, load_b, dot, store)
    expansions = [expand_single_tiled_op(op, stages, builder) for op in ops]
    verify_module(module)
    a, b, d, s = expansions
    for stage in stages.stages:
        assert a[stage].operands[1:] == (per_stage[stage],) * 2
        assert d[stage].operands[:2] == (a[stage].results[0], b[stage].results[0])
        assert d[stage].operands[2] is dot.operands[2]
        assert s[stage].operands[1] is d[stage].results[0]
        assert s[stage].operands[0] is store.operands[0]
    assert stages.replicas == dict(zip(ops, expansions, strict=True))
    assert dot.operands[0] is load_a.results[0], "the original is left as it was"


def test_the_map_of_sources() -> None:
    _, (load_a, load_b, dot, _) = gemm()
    sources = collect_operand_sources(dot)
    assert sources[load_a.results[0]] is load_a
    assert sources[load_b.results[0]] is load_b
    assert sources[dot.operands[2]] is dot.operands[2].owner


def test_uses_inside_regions_are_rewired_too() -> None:
    module = parse(
        """
        func.func @f(%p: i1, %t: tensor<32x32xf32>) {
          %a = nv_tileas.extract_slice %t[0, 0][16, 32][1, 1] : tensor<32x32xf32> -> tensor<16x32xf32>
          %r = scf.if %p -> (tensor<16x32xf32>) {
            %n = arith.negf %a : tensor<16x32xf32>
            scf.yield %n : tensor<16x32xf32>
          } else {
            scf.yield %a : tensor<16x32xf32>
          }
          func.return
        }
        """  # noqa: E501
    )
    slice_, branch = list(next(iter(module.ops)).regions[0].block.ops)[:2]
    assert isinstance(branch, scf.IfOp)
    sources = collect_operand_sources(branch)
    assert set(sources) == {branch.cond, slice_.results[0]}
    assert sources[branch.cond] is None, "an argument of a block comes from no operation"
    builder = Builder(InsertPoint.before(branch))
    stages = StageMap((0, 1))
    slices = expand_single_tiled_op(slice_, stages, builder)
    branches = expand_single_tiled_op(branch, stages, builder)
    verify_module(module)
    for stage, replica in branches.items():
        used = {value for op in replica.walk() for value in op.operands}
        assert slices[stage].results[0] in used
        assert slices[1 - stage].results[0] not in used
        assert slice_.results[0] not in used


def test_stages_are_never_mixed() -> None:
    """A source with replicas, but none in a stage, is an error; so is a value of other stages."""
    module, (load_a, _, dot, _) = gemm()
    builder = Builder(InsertPoint.at_end(module.body.block))
    stages = StageMap((0,))
    expand_single_tiled_op(load_a, stages, builder)
    wider = StageMap((0, 1), replicas=stages.replicas)
    with pytest.raises(ValueError, match=r"'nv_tileas\.tiled_load' has no replica in stage=1"):
        expand_single_tiled_op(dot, wider, builder)
    coordinate: SSAValue = load_a.operands[1]
    partial = StageMap((0, 1), {coordinate: {0: constant(builder, 0)}})
    assert coordinate.type == IndexType()
    with pytest.raises(ValueError, match="nothing is known of a value of type index in stage=1"):
        expand_single_tiled_op(load_a, partial, builder)

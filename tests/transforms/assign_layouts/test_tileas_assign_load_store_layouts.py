"""Layout assignment: the published example by its numbers, good layouts, the same results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec

import kernels
from kernels import Copy, Gemm, Kernel, Sizes, Softmax, VectorAdd
from kernels.kernel import Deviation
from kernels.simulating import parse
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.attributes import RegisterEncoding
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.warp_matrix import MatrixAccess, ldmatrix_fits
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.printing import module_text
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.mma.warp_tiles import operand_layout
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import (
    Candidate,
    Cost,
    Weights,
    rank,
)
from tileas_xdsl.transforms.assign_layouts.driver import assign_layouts
from tileas_xdsl.transforms.assign_layouts.explain import explanation
from tileas_xdsl.transforms.assign_layouts.request import Decision, Preferences
from tileas_xdsl.transforms.layouts.tileas_assign_load_store_layouts import (
    ALWAYS_SWIZZLE,
    PREFER_TMA,
    TileasAssignLoadStoreLayouts,
)

EXAMPLE = """
func.func @unbound(%src: memref<128x64xf16, #nv_tileas<space smem>>) {
  %zero = arith.constant 0 : index
  %a = nv_tileas.tiled_load %src[%zero, %zero] {atom = #nv_tileas<atom unknown_copy>} : memref<128x64xf16, #nv_tileas<space smem>> -> tensor<128x64xf16>
  func.return
}
"""  # noqa: E501


def decisions(text: str, preferences: Preferences | None = None) -> Sequence[Decision]:
    """What is decided for the groups of the only function of a module."""
    module = parse(text)
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    return assign_layouts(function, get_target("sm_90a"), preferences or Preferences())


def assigned(text: str, **options: Any) -> ModuleOp:
    """The module after the pass, which is valid."""
    module = parse(text)
    TileasAssignLoadStoreLayouts(**options).apply(Context(), module)
    verify_module(module)
    return module


def bound() -> str:
    """The example with a consumer that wants operand A in registers."""
    operand = operand_layout(128, 64, 16, 4)
    type_ = f'tensor<128x64xf16, #nv_tileas.dot_operand<"{operand}">>'
    convert = f"  %b = nv_tileas.convert_layout %a : tensor<128x64xf16> -> {type_}\n"
    return EXAMPLE.replace("  func.return\n", convert + "  func.return\n")


# Worked Example: Load of tensor<128x64xf16> from SMEM


def by_atom(decision: Decision) -> dict[str, Candidate]:
    """The first, and best, candidate of each atom."""
    found: dict[str, Candidate] = {}
    for candidate in decision.candidates:
        found.setdefault(candidate.atom, candidate)
    return found


def test_the_worked_example_costs_what_is_published() -> None:
    (decision, *_) = decisions(EXAMPLE)
    found = by_atom(decision)
    assert found["ldsm_m88"].cost == Cost(4, None, 32)
    assert found["ldsm_m816"].cost == Cost(2, None, 64)
    assert found["cp.async.bulk.tensor"].cost == Cost(1, None, 0)
    scores = {atom: Weights().score(candidate.cost) for atom, candidate in found.items()}
    assert (scores["ldsm_m88"], scores["ldsm_m816"]) == (12, 18)
    assert scores["cp.async.bulk.tensor"] == 1


def test_the_tile_stays_in_memory_unless_registers_want_it() -> None:
    (unbound, *_) = decisions(EXAMPLE)
    assert unbound.choice is not None
    assert [c.atom for c in unbound.choice.atoms.values()] == ["cp.async.bulk.tensor"]
    assert str(unbound.choice.layout) == "<(128,64),(64,1),swizzle<3,4,3>>"


def test_ldmatrix_wins_for_a_consumer_in_registers() -> None:
    (decision, *_) = decisions(bound())
    assert decision.choice is not None
    load = next(op for op in decision.choice.atoms if isinstance(op, TiledLoadBase))
    assert decision.choice.atoms[load].atom == "ldsm_m88"
    bulk = by_atom(decision)["cp.async.bulk.tensor"]
    assert bulk.dropped == "another operation of the group has no layout of this family"


def test_wavefronts_of_the_example_are_those_of_the_tables() -> None:
    """128 matrices take a wavefront each with the swizzle, eight each without."""
    layout = operand_layout(128, 64, 16, 4)
    assert layout is not None
    fragment = RegisterLayout(layout, (128, 64), 128)
    for swizzle, expected in (("128B", 128), ("none", 1024)):
        memory = MemoryLayout(Layout((128, 64), (64, 1)), BYTE_SWIZZLES[swizzle])
        access = ldmatrix_fits(fragment, memory.addresses(16), 16)
        assert isinstance(access, MatrixAccess)
        assert int(access.wavefronts.sum()) == expected


def test_weights_decide() -> None:
    """If registers cost nothing, half of the transactions win over half of the registers."""
    free = Weights(1, 4, 0)
    matrices, expanding = Cost(4, None, 32), Cost(2, None, 64)
    assert Weights().score(matrices) < Weights().score(expanding)
    assert free.score(expanding) < free.score(matrices)


def test_ties_are_decided_by_registers_then_by_transactions() -> None:
    weights = Weights(1, 4, 0.25)
    fewer_registers, fewer_transactions = Cost(4, None, 8), Cost(2, None, 16)
    assert weights.score(fewer_registers) == weights.score(fewer_transactions)
    assert rank(fewer_registers, weights) < rank(fewer_transactions, weights)
    assert rank(Cost(3, 1, 0), weights) < rank(Cost(7, 0, 0), weights)


def test_the_explanation_is_a_table() -> None:
    module = parse(EXAMPLE)
    (function,) = (op for op in module.ops if isinstance(op, func.FuncOp))
    found = assign_layouts(function, get_target("sm_90a"), Preferences())
    text = explanation(function, found, Weights())
    lines = text.splitlines()
    assert lines[:3] == ["layouts of @unbound", "", "%a: 128x64"]
    rows = {line.split()[1]: line.split() for line in lines[4:]}
    assert rows["ldsm_m88"][-4:] == ["4", "-", "32", "12"]
    assert "expands elements of 4 or 6 bits, not of 16" in " ".join(rows["ldsm_m816"])
    assert lines[-1] == "chosen: shared <(128,64),(64,1),swizzle<3,4,3>>, score 1"


# diagnostics and options


def test_the_message_is_exact_to_the_byte() -> None:
    """Its notes name the operations, the values and where each has them."""
    text = """
func.func @k(%slots: !nv_tileas.tiled_view<2x12288xf16, smem>) {
  %p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 2 : i32, producerGroupId = 0 : i8, consumerGroupId = 1 : i8} : !nv_tileas.tiled_view<2x12288xf16, smem> -> !nv_tileas.async.pipeline.producer_token, !nv_tileas.async.pipeline.consumer_token
  %j = nv_tileas.async.pipeline.create_iterator %c : !nv_tileas.async.pipeline.consumer_token -> !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>, tensor<64x64xf32>>, 2, smem>
  %c1, %sums = nv_tileas.async.pipeline.consume_one %c, %j {consumer_idx = 0 : i32, consumer_types = [tensor<64x64xf16>, tensor<64x64xf32>]} : (!nv_tileas.async.pipeline.consumer_token, !nv_tileas.async.pipeline.iterator<tuple<tensor<64x64xf16>, tensor<64x64xf32>>, 2, smem>) -> (!nv_tileas.async.pipeline.consumer_token, tensor<64x64xf32>) {
  ^bb0(%sa: tensor<64x64xf16>, %sc: tensor<64x64xf32>):
    %dot = nv_tileas.dot %sa, %sa, %sc {atom = #nv_tileas<atom wgmma_f16_f16_f32>} : tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf32> -> tensor<64x64xf32>
    nv_tileas.async.pipeline.yield %dot : tensor<64x64xf32>
  }
  func.return
}
"""  # noqa: E501
    with pytest.raises(OpError) as caught:
        assigned(text)
    (found,) = caught.value.diagnostics
    assert found.message == " can not find common memKind among pipeline alias group\n"
    assert [note.message for note in found.notes] == [
        "'nv_tileas.async.pipeline.consume_one' has %sc in smem",
        "'nv_tileas.dot' has %sc in rmem",
        "'nv_tileas.dot' has %dot in rmem",
    ]


SMALL = """
func.func @k(%x: memref<?x?xf32>, %y: memref<?x?xf32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %b = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %vx = nv_tileas.view %x : memref<?x?xf32> -> !nv_tileas.tiled_view<16x64xf32, gmem>
  %vy = nv_tileas.view %y : memref<?x?xf32> -> !nv_tileas.tiled_view<16x64xf32, gmem>
  %buffer = nv_tileas.alloc_tensor : tensor<16x64xf32, #nv_tileas<space smem>>
  %a = nv_tileas.tiled_load %vx[%b, %zero] {atom = #nv_tileas<atom unknown_copy>} : !nv_tileas.tiled_view<16x64xf32, gmem> -> tensor<16x64xf32>
  nv_tileas.copy %a, %buffer {atom = #nv_tileas<atom unknown_copy>} : tensor<16x64xf32>, tensor<16x64xf32, #nv_tileas<space smem>>
  "gpu.barrier"() : () -> ()
  %c = nv_tileas.convert_layout %buffer : tensor<16x64xf32, #nv_tileas<space smem>> -> tensor<16x64xf32>
  %e = math.exp %c : tensor<16x64xf32>
  nv_tileas.tiled_store %e, %vy[%b, %zero] {atom = #nv_tileas<atom unknown_copy>} : tensor<16x64xf32>, !nv_tileas.tiled_view<16x64xf32, gmem>
  func.return
}
"""  # noqa: E501


def test_tma_is_preferred_by_option_and_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = module_text(assigned(SMALL), {}, [])
    by_option = module_text(assigned(SMALL, prefer_tma=True), {}, [])
    assert ("tma_load_2d" in plain, "tma_store_2d" in plain) == (False, False)
    assert ("tma_load_2d" in by_option, "tma_store_2d" in by_option) == (True, True)
    monkeypatch.setenv(PREFER_TMA, "1")
    assert module_text(assigned(SMALL), {}, []) == by_option
    monkeypatch.setenv(PREFER_TMA, "0")
    assert module_text(assigned(SMALL), {}, []) == plain


def test_swizzles_are_always_taken_where_that_is_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where threads access whole rows, which conflict nowhere."""
    heavy = Preferences(Weights(0, 0, 0), always_swizzle=True)
    buffers = [d for d in decisions(SMALL, heavy) if "buffer" in str(d.group.values[0].name_hint)]
    assert len(buffers) == 1
    layouts = {str(candidate.layout) for candidate in buffers[0].candidates}
    assert layouts
    assert all("swizzle" in layout for layout in layouts)
    monkeypatch.setenv(ALWAYS_SWIZZLE, "1")
    assert "swizzle" in module_text(assigned(SMALL), {}, [])


# kernels


def _gemm(bm: int = 128, bn: int = 128, bk: int = 64, **parameters: Any) -> Kernel:
    return Gemm(bm=bm, bn=bn, bk=bk, **parameters)


KERNELS: Sequence[Kernel] = (
    VectorAdd("f16"),
    Copy("f32"),
    Softmax("f16"),
    Softmax("f32", rows=4, columns=256),
    _gemm(bm=64, bn=64, bk=32, consumers=1),
    _gemm(form="scalar", epilogue="tma", output="f16"),
    _gemm(cluster=2, persistent=2, epilogue="tma"),
    _gemm(element="e4m3", b="nk", bn=64),
    _gemm(element="bf16", instruction="tcgen05"),
)
SIZES: dict[type[Kernel], Sizes] = {Gemm: {"m": 136, "n": 72, "k": 80}}


def _simulated(kernel: Kernel, module: ModuleOp, schedule: Schedule) -> tuple[Deviation, Any]:
    sizes = SIZES.get(type(kernel), kernel.sizes)
    inputs = kernel.make_inputs(np.random.default_rng(1), sizes)
    found = simulate(
        module, inputs, grid=kernel.grid(sizes), schedule=schedule, target=kernel.target
    )
    return kernel.check(inputs, found.arrays), found.arrays


LAST_PASS = re.compile(r'nv_tileas\.last_pass = "[^"]*",? ?')


@pytest.mark.sample(3)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernels_compute_the_same_after_every_pass(kernel: Kernel) -> None:
    """Bit for bit after each pass of `tileas-layout`, and no check of the interpreter fires."""
    made = compile(kernel.text(), kernel.target, passes=[*PIPELINES["tileas-layout"].passes][:-1])
    module = parse(kernel.text())
    _, before = _simulated(kernel, module, Schedule())
    texts = (LAST_PASS.sub("", made.ir(spec.name)) for spec in made.passes)
    different = dict.fromkeys(texts)  # some passes leave the kernel as it is
    assert made.ir() not in different
    for text in different:
        after = parse(text)
        for schedule in (Schedule(), Schedule("adversarial")):
            deviation, found = _simulated(kernel, after, schedule)
            assert deviation.is_right
            for one, other in zip(before, found, strict=True):
                assert np.asarray(one).tobytes() == np.asarray(other).tobytes()


@pytest.mark.sample(5)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_second_run_changes_nothing(kernel: Kernel) -> None:
    once = assigned(kernel.text(), target=kernel.target)
    text = module_text(once, {}, [])
    TileasAssignLoadStoreLayouts(target=kernel.target).apply(Context(), once)
    assert module_text(once, {}, []) == text
    assert module_text(assigned(kernel.text(), target=kernel.target), {}, []) == text


def _thread_accesses(decided: Sequence[Decision]) -> Iterator[tuple[Decision, Candidate]]:
    """The accesses of threads to shared memory, as they were chosen."""
    for decision in decided:
        if decision.choice is None or not isinstance(decision.choice.layout, MemoryLayout):
            continue
        for candidate in decision.choice.atoms.values():
            if candidate.atom[:3] in ("lds", "sts"):
                yield decision, candidate


BUFFERED = [kernel for kernel in KERNELS if "epilogue=tma" in str(kernel)]


@pytest.mark.parametrize("kernel", BUFFERED, ids=str)
def test_no_access_of_threads_has_more_wavefronts_than_the_best_swizzle_allows(
    kernel: Kernel,
) -> None:
    accesses = list(_thread_accesses(decisions(kernel.text())))
    assert accesses
    for decision, chosen in accesses:
        others = [c for c in decision.candidates if c.op is chosen.op and not c.dropped]
        assert chosen.cost.smem == min(candidate.cost.smem for candidate in others)


@pytest.mark.parametrize(
    ("kernel", "most"),
    [
        (VectorAdd("f16", tile=1024), 8),
        (VectorAdd("f32", tile=1024), 4),
        (Softmax("f32", rows=4, columns=256), 4),
        (Softmax("f16", rows=4, columns=256), 8),
    ],
    ids=str,
)
def test_global_accesses_are_as_wide_as_alignment_permits(kernel: Kernel, most: int) -> None:
    """Adjacent registers of a thread are adjacent in rows, 16 bytes of them."""
    module = assigned(kernel.text())
    accesses = [op for op in module.walk() if isinstance(op, TiledLoadBase | TiledStoreOp)]
    assert accesses
    for op in accesses:
        tile = as_tile(op.result.type if isinstance(op, TiledLoadBase) else op.value.type)
        assert tile is not None
        assert isinstance(tile.encoding, RegisterEncoding)
        shape = tuple(tile.get_shape())
        fragment = RegisterLayout(tile.encoding.data, shape, 128)
        steps = np.diff(fragment.held[:, :most], axis=1)
        assert (steps == (1 if len(shape) == 1 else shape[0])).all()


def test_the_explanation_reaches_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    passes = [ArgSpec("tileas-assign-load-store-layouts", {"explain": (True,)})]
    compile(kernels.make("softmax").text(), passes=passes)
    assert "layouts of @softmax" in capsys.readouterr().err

"""`lower-tma-load-store-to-async`: kernels give the same before and after, and as PTX."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec

from kernels import Copy, Gemm, Softmax, VectorAdd
from kernels.elements import ELEMENTS
from tests.support import plain_kernels
from tests.support.assembling import needs_ptxas
from tests.support.ir import parse
from tests.transforms.tma_to_async import tma_kernels
from tests.transforms.tma_to_async.tma_kernels import Launch
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import MakeTiledTmaDescOp
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase, TmaTransferOp
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.transforms.memory.lower_tma_load_store_to_async import LowerTmaLoadStoreToAsync
from tileas_xdsl.transforms.tma_to_async.candidates import TiledOp

NAME = "lower-tma-load-store-to-async"
SCHEDULES = (Schedule(), Schedule("adversarial"), Schedule("random", 1), Schedule("random", 2))
ORDERS = (("eager", 0), ("lazy", 0), ("random", 0))

LAUNCHES: Mapping[str, Callable[[], Launch]] = {
    **{
        f"copy of {name} {m}x{n}": lambda name=name, m=m, n=n: tma_kernels.copy(name, (m, n))
        for name in ("f16", "f32", "e4m3", "i32")
        for m, n in ((64, 128), (40, 144), (1, 16))
    },
    **{
        f"doubled {name}": lambda name=name: tma_kernels.doubled(name, (40, 48))
        for name in ("f16", "f32", "i32")
    },
    **{
        f"sum of {name}": lambda name=name: tma_kernels.summed(name)
        for name in ("f16", "f32", "i32")
    },
    "rank 1": lambda: tma_kernels.of_rank((1000,), (256,)),
    "rank 3": lambda: tma_kernels.of_rank((5, 20, 32), (2, 16, 32)),
    "some rounds": tma_kernels.some_rounds,
    "in place": tma_kernels.in_place,
    "agents": tma_kernels.by_agents,
    "tokens": tma_kernels.in_order,
    "offsets": tma_kernels.with_offsets,
    "overlapping": tma_kernels.overlapping,
    "stages": tma_kernels.staged,
    "branches": tma_kernels.branching,
    "one buffer": tma_kernels.one_buffer,
    "either way": tma_kernels.either_way,
}
PRODUCTS: Mapping[str, Callable[[], Launch]] = {
    "f16 100x136x200": lambda: tma_kernels.product("f16", (100, 136, 200)),
    "f16 8x8x8": lambda: tma_kernels.product("f16", (8, 8, 8)),
    "bf16 64x64x128": lambda: tma_kernels.product("bf16", (64, 64, 128)),
    "e4m3 80x96x272": lambda: tma_kernels.product("e4m3", (80, 96, 272)),
}
ONLY_IN_TILES = ("branches", "either way")
"""Kernels with branches between blocks, which no lowering to threads has."""


def lowered(module: ModuleOp, **options: Any) -> ModuleOp:
    """The module after the pass, which leaves it valid and has nothing to do afterwards."""
    LowerTmaLoadStoreToAsync(prefer_tma=True, **options).apply(Context(), module)
    verify_module(module)
    printed = str(module)
    LowerTmaLoadStoreToAsync(prefer_tma=True).apply(Context(), module)
    assert str(module) == printed
    return module


def count(module: ModuleOp, *kinds: type) -> int:
    return sum(isinstance(op, kinds) for op in module.walk())


def simulated(launch: Launch, module: ModuleOp) -> None:
    for schedule in SCHEDULES:
        found = simulate(module, launch.arguments, grid=launch.grid, schedule=schedule)
        launch.check(found.arrays)


def made(launch: Launch, *, first: bool = False, delayed: bool = False) -> CompiledKernel:
    """The kernel as PTX, by the usual pipeline, or with the pass in front of all others."""
    spec = ArgSpec(NAME, {"prefer_tma": (True,), "delay_store_wait": (delayed,)})
    usual = PIPELINES["tileas-to-ptx"].passes
    rest = [spec if other.name == NAME else other for other in usual]
    return compile_kernel(launch.text, passes=[spec, *rest] if first else rest)


def emulated(launch: Launch, kernel: CompiledKernel) -> None:
    for order, seed in ORDERS:
        found = kernel.emulate(*launch.arguments, grid=launch.grid, order=order, seed=seed)
        assert [str(finding) for finding in found.findings] == []
        assert found.finished
        launch.check(found.arrays)


@pytest.mark.sample(20)
@pytest.mark.parametrize("delayed", [False, True], ids=["at once", "delayed"])
@pytest.mark.parametrize("name", LAUNCHES)
def test_the_interpreter_agrees(name: str, delayed: bool) -> None:
    launch = LAUNCHES[name]()
    before = parse(launch.text)
    launch.check(simulate(before, launch.arguments, grid=launch.grid).arrays)
    after = lowered(parse(launch.text), delay_store_wait=delayed)
    kept = [op for op in after.walk() if isinstance(op, TiledOp)]
    assert not any(isinstance(op.atom.data, TmaAtom) for op in kept)
    assert count(after, TmaTransferOp) == count(
        before, TiledLoadOp, TiledStoreOp, TiledAtomicRmwOp
    ) - len(kept)
    simulated(launch, after)


@pytest.mark.sample(12)
@pytest.mark.parametrize("first", [False, True], ids=["laid out before", "laid out after"])
@pytest.mark.parametrize("name", [name for name in LAUNCHES if name not in ONLY_IN_TILES])
def test_the_ptx_agrees(name: str, first: bool) -> None:
    launch = LAUNCHES[name]()
    kernel = made(launch, first=first)
    assert "cp.async.bulk.tensor" in kernel.ptx or "cp.reduce" in kernel.ptx
    emulated(launch, kernel)


@pytest.mark.parametrize("name", ["overlapping", "in place", "one buffer", "copy of f32 40x144"])
def test_waits_of_stores_may_come_late(name: str) -> None:
    launch = LAUNCHES[name]()
    emulated(launch, made(launch, delayed=True))


def test_a_late_wait_is_behind_the_next_load() -> None:
    """In each of two blocks of a loop: the wait of the first store comes behind the next load."""
    module = lowered(parse(tma_kernels.overlapping().text), delay_store_wait=True)
    operations = [op for op in module.walk() if isinstance(op, TmaTransferOp | WaitOp)]
    words = [
        "load"
        if isinstance(op, TmaLoadBase)
        else "store"
        if isinstance(op, TmaTransferOp)
        else "wait of a load"
        if isinstance(op.token.owner, TmaLoadBase)
        else "wait of a store"
        for op in operations
    ]
    assert words == [
        "load",
        "wait of a load",
        "store",
        "load",
        "wait of a load",
        "wait of a store",
        "store",
        "wait of a store",
    ]


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_plain_loads(name: str) -> None:
    """Operands that stay in shared memory are loaded there by TMA, round after round."""
    launch = PRODUCTS[name]()
    kernel = made(launch)
    assert kernel.ptx.count("cp.async.bulk.tensor.2d") >= 2
    assert "wgmma.mma_async" in kernel.ptx
    emulated(launch, kernel)


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_interpreter_agrees_on_products(name: str) -> None:
    launch = PRODUCTS[name]()
    module = parse(launch.text)
    launch.check(simulate(module, launch.arguments, grid=launch.grid).arrays)
    passes = PIPELINES["tileas-to-ptx"].passes
    passes = passes[: 1 + [spec.name for spec in passes].index(NAME)]
    after = parse(compile_kernel(module, passes=passes).lowered_ir)
    assert count(after, TmaLoadBase) == 2
    assert count(after, TiledLoadOp) == 0
    simulated(launch, after)


@needs_ptxas
@pytest.mark.parametrize("name", ["copy of f16 40x144", "sum of f32", "some rounds", "in place"])
def test_ptxas_is_content(name: str) -> None:
    _content(made(LAUNCHES[name]()))


@needs_ptxas
def test_ptxas_is_content_with_products() -> None:
    for name in ("f16 100x136x200", "e4m3 80x96x272"):
        _content(made(PRODUCTS[name]()))


def _content(kernel: CompiledKernel) -> None:
    assembled = kernel.assemble()
    assert assembled.messages == ()
    assert (assembled.spills, assembled.stack) == (0, 0)


def test_parities_flip_where_loads_run_again() -> None:
    """A load that runs once waits for parity 0; one in a loop for what the loop carries."""
    once = made(tma_kernels.doubled("f16", (16, 32))).ptx
    again = made(tma_kernels.copy("f16", (32, 64))).ptx
    wait = r"mbarrier\.try_wait\.parity[^;]*, ([^,;]+);"
    assert set(re.findall(wait, once)) == {"0"}
    assert all(parity.startswith("%") for parity in re.findall(wait, again))
    assert once.count("mbarrier.init") == again.count("mbarrier.init") == 1


def test_parities_are_values_of_the_block_that_uses_them() -> None:
    """Each arm of a branch begins with what was before it."""
    usual = PIPELINES["tileas-to-ptx"].passes
    names = [spec.name for spec in usual]
    lowering = usual[: names.index("convert-tileas-to-cute-nvgpu") + 1]
    text = tma_kernels.some_rounds().text
    compile_kernel(text, passes=[*lowering, ArgSpec("verify-dominance", {})])


@pytest.mark.parametrize(("name", "fences"), [("in place", 3), ("overlapping", 0)])
def test_threads_that_store_what_tma_reaches_fence(name: str, fences: int) -> None:
    """Before each of two loads and a store, and more than the shared memory of any bulk store."""
    assert made(LAUNCHES[name]()).ptx.count("fence.proxy.async;") == fences


def test_a_tile_that_is_stored_as_it_came_has_no_registers() -> None:
    module = lowered(parse(tma_kernels.copy("f16", (32, 64)).text))
    assert count(module, ConvertLayoutOp, CopyOp) == 0
    assert count(module, MakeTiledTmaDescOp) == 2


ROWS = """
#gather = #nv_tileas<atom tma_load_2d<mode = gather4>>
#scatter = #nv_tileas<atom tma_store_2d<mode = scatter4>>
!matrix = memref<?x?x$E>
!view = !nv_tileas.tiled_view<8x32x$E, gmem>
!tile = tensor<8x32x$E>
!places = tensor<8x32xindex>
func.func @k(%a: !matrix, %b: !matrix, %from: memref<8xi32>, %to: memref<8xi32>) attributes {nv_tileaa.kernel_spec = #nv_tileaa.kernel_spec<num_warps = 4>} {
  %zero = arith.constant 0 : index
  %width = arith.constant 32 : index
  %y = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
  %va = nv_tileas.view %a : !matrix -> !view
  %vb = nv_tileas.view %b : !matrix -> !view
  %some = nv_tileas.tiled_load %from[%zero] {atom = #nv_tileas<atom ldg>} : memref<8xi32> -> tensor<8xi32>
  %others = nv_tileas.tiled_load %to[%zero] {atom = #nv_tileas<atom ldg>} : memref<8xi32> -> tensor<8xi32>
  %first = arith.muli %y, %width : index
  %rows = nv_tileas.generate : !places {
  ^bb0(%r: index, %c: index):
    %number = tensor.extract %some[%r] : tensor<8xi32>
    %row = arith.index_cast %number : i32 to index
    nv_tileas.yield %row : index
  }
  %targets = nv_tileas.generate : !places {
  ^bb0(%r: index, %c: index):
    %number = tensor.extract %others[%r] : tensor<8xi32>
    %row = arith.index_cast %number : i32 to index
    nv_tileas.yield %row : index
  }
  %columns = nv_tileas.generate : !places {
  ^bb0(%r: index, %c: index):
    %column = arith.addi %c, %first : index
    nv_tileas.yield %column : index
  }
  %t = nv_tileas.gather_load %va[%rows : !places, %columns : !places] {atom = #gather, in_bounds = array<i1: false, false>, padding_value = $Z : $E} : !view -> !tile
  nv_tileas.scatter_store %t, %vb[%targets : !places, %columns : !places] {atom = #scatter} : !tile, !view
  func.return
}
"""  # noqa: E501


@pytest.mark.parametrize("name", ["f16", "f32", "i32"])
def test_rows_by_their_numbers(name: str) -> None:
    """Rows that do not exist are zeros; columns that do not exist are left out."""
    element, rng = ELEMENTS[name], np.random.default_rng(4)
    a, b = element.random(rng, (20, 80)), element.random(rng, (16, 80))
    some = np.array([3, 19, 3, 25, 0, 7, -1, 12], np.int32)
    others = np.array([1, 15, 4, 0, 9, 40, 7, 2], np.int32)
    expected = b.copy()
    for source, target in zip(some, others, strict=True):
        if target < 16:
            expected[target] = a[source] if 0 <= source < 20 else 0
    text = ROWS.replace("$E", element.ir).replace("$Z", element.zero)
    launch = Launch(text, [a, b, some, others], (1, 3, 1), [a, expected, some, others])
    launch.check(simulate(parse(text), launch.arguments, grid=launch.grid).arrays)
    simulated(launch, lowered(parse(text)))


def test_elements_that_tma_moves_as_others() -> None:
    launch = tma_kernels.doubled("f32", (40, 48))
    text = launch.text.replace("allow_tma = true", "allow_tma = true, tma_internal_type = i32")
    module = lowered(parse(text))
    assert "tensor<16x32xi32" in str(module)
    simulated(launch, module)


def test_padding_that_tma_does_not_fill_in_is_loaded_by_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """TMA fills boxes up with zeros; here 56 columns of A and rows of B are padded with 1."""
    monkeypatch.setenv("TILEAS_VERIFY_EACH", "1")
    launch = PRODUCTS["f16 8x8x8"]()
    kernel = compile_kernel(launch.text.replace("padding_value = 0.0", "padding_value = 1.0"))
    assert "cp.async.bulk.tensor.2d.shared" not in kernel.ptx
    for run in (kernel.simulate, kernel.emulate):
        found = run(*launch.arguments, grid=launch.grid)
        np.testing.assert_allclose(found.arrays[-1], launch.expected[-1] + 56, 1e-3)


def test_a_failure_changes_nothing() -> None:
    """Neither in the function nor in those before it."""
    right = tma_kernels.doubled("f16", (16, 32)).text
    wrong = right.replace("@k", "@l").replace("func.return", "func.return", 1)
    body = wrong[wrong.index("func.func") :].replace("%va[%x, %y]", "%va[%x, %y] relaxed gpu")
    module = parse(right + body)
    before = str(module)
    with pytest.raises(OpError, match="is relaxed, but bulk copies are weak"):
        LowerTmaLoadStoreToAsync().apply(Context(), module)
    assert str(module) == before


def test_several_functions() -> None:
    right = tma_kernels.doubled("f16", (16, 32)).text
    other = right[right.index("func.func") :].replace("@k", "@l")
    module = lowered(parse(right + other + "func.func private @outside(i32)\n"))
    indices = re.findall(r"make_tiled_tma_desc[^:]*tmaIdx = (\d)", str(module))
    assert indices == ["0", "1", "0", "1"]


@pytest.mark.parametrize(
    ("variable", "field"),
    [
        ("TILEIR_PREFER_TMA_FOR_LOAD_STORE", "make_tiled_tma_desc"),
        ("TILEIR_DELAY_TMA_STORE_WAIT", "delay_store_wait"),
    ],
)
def test_environment(monkeypatch: pytest.MonkeyPatch, variable: str, field: str) -> None:
    text = tma_kernels.overlapping().text
    if "PREFER" in variable:
        text = text.replace(", allow_tma = true", "")

    def after() -> str:
        module = parse(text)
        LowerTmaLoadStoreToAsync().apply(Context(), module)
        return str(module)

    for value, is_on in (("0", False), ("", False), ("1", True), ("yes", True)):
        monkeypatch.setenv(variable, value)
        assert (field in after()) is is_on


@pytest.mark.parametrize(
    "name", ["normalised 32x32 by 4 warps", "normalised 4x64 by 4 warps", "moved"]
)
def test_plain_kernels_where_tma_is_preferred(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What layout assignment prefers TMA for is lowered, and what TMA cannot reach stays."""
    monkeypatch.setenv("TILEIR_PREFER_TMA_FOR_LOAD_STORE", "1")
    launch = plain_kernels.LAUNCHES[name](np.random.default_rng(11))
    text = re.sub("<atom (ldg|stg)>", "<atom unknown_copy>", launch.text)
    kernel = compile_kernel(text)
    assert ("cp.async.bulk.tensor" in kernel.ptx) is (name != "moved")
    found = kernel.emulate(*launch.arguments, grid=launch.grid, order="random")
    assert [str(finding) for finding in found.findings] == []
    result, expected = found.arrays[-1].astype(np.float64), launch.expected.astype(np.float64)
    np.testing.assert_allclose(result, expected, rtol=launch.tolerance, atol=launch.tolerance)


@pytest.mark.parametrize(
    "kernel", [Copy(), Gemm(bm=128, bn=128, bk=64), Softmax("f32"), VectorAdd("f32")], ids=str
)
def test_kernels_without_such_operations_stay(kernel: Any) -> None:
    module = parse(kernel.text())
    before = str(module)
    LowerTmaLoadStoreToAsync(prefer_tma=True).apply(Context(), module)
    assert str(module) == before

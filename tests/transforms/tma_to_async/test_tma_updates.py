"""Descriptors that a block makes itself: template, mutators, fences, and who may use them."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.windows import BY_BLOCK, window_kernel

from kernels import Kernel, Sizes, Windows
from kernels.compiled import ORDERS, compiled, emulated
from kernels.simulating import run
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.runtime.emulation import Emulation, emulate

SIZES: tuple[Sizes, ...] = ({"m": 14, "n": 96}, {"m": 8, "n": 48}, {"m": 1, "n": 32})
KERNELS = [
    *(Windows(element) for element in ("f32", "f16", "e4m3", "i32")),
    Windows("bf16", rows=16, step=20),
]


@pytest.mark.sample(8)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_blocks_copy_through_maps_of_their_own(kernel: Kernel, sizes: Sizes) -> None:
    for order in ORDERS:
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, order


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_interpreter_agrees(kernel: Kernel) -> None:
    assert run(kernel, kernel.sizes).deviation.is_right


@needs_ptxas
@pytest.mark.parametrize("kernel", KERNELS[:2], ids=str)
def test_ptxas_is_content(kernel: Kernel) -> None:
    for target in ("sm_90a", "sm_100a"):
        assembled = compile(kernel.text(), target).assemble()
        assert assembled.messages == ()
        assert (assembled.spills, assembled.stack) == (0, 0)


def test_the_mutators_come_in_their_order_between_the_fences() -> None:
    """Address, extents from the innermost on, strides; then release, a barrier, acquire."""
    wanted = (
        "tensormap.replace.tile.global_address",
        "tensormap.replace.tile.global_dim",
        "tensormap.replace.tile.global_stride",
        "tensormap.cp_fenceproxy",
        "bar.sync",
        "fence.proxy.tensormap::generic.acquire.gpu",
        "cp.async.bulk.tensor",
    )
    lines = compiled(Windows()).ptx.splitlines()
    found = [next((w for w in wanted if w in line), None) for line in lines]
    address, dim, stride, copy, barrier, acquire, transfer = wanted
    one = [address, dim, dim, stride, copy, barrier, acquire]
    names = [name for name in found if name is not None]
    assert names[: 2 * len(one)] == one + one
    assert transfer not in names[: 2 * len(one)]
    assert transfer in names
    ordinals = [line.split(",")[1].strip() for line in lines if ".global_dim." in line]
    assert ordinals == ["0", "1", "0", "1"]


def _edited(edit: Callable[[str], str], checks: bool = True) -> Emulation:
    kernel = Windows()
    made = compiled(kernel)
    inputs = kernel.make_inputs(np.random.default_rng(0), kernel.sizes)
    text = edit(made.ptx)
    assert text != made.ptx
    return emulate(text, made.abi, inputs, kernel.grid(kernel.sizes), checks=checks)


def _without(word: str) -> Callable[[str], str]:
    def edit(text: str) -> str:
        lines = text.splitlines(keepends=True)
        gone = next(number for number, line in enumerate(lines) if word in line)
        return "".join(lines[:gone] + lines[gone + 1 :])

    return edit


def _acquire_first(text: str) -> str:
    """The acquire before the copy that it is of."""
    lines = text.splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if "generic.acquire" in line)
    begin = next(number for number, line in enumerate(lines) if "setp.eq.s32 %p0" in line)
    return "".join([*lines[:begin], lines[at], *lines[begin:at], *lines[at + 1 :]])


@pytest.mark.parametrize("edit", [_without("generic.acquire"), _acquire_first])
def test_a_map_that_is_not_acquired_after_its_change_is_found(edit: Callable[[str], str]) -> None:
    found = _edited(edit).findings
    assert {finding.kind for finding in found} == {"missing-tensormap-fence"}
    assert "was changed and not acquired by this warp since" in found[0].message
    assert found[0].notes[0].startswith("changed at line ")
    assert _edited(edit, checks=False).findings == []


@pytest.mark.parametrize("mutator", ["tile.global_address", "[%r5], 1, "])
def test_what_the_mutators_change_is_needed(mutator: str) -> None:
    """Without a window's address or rows, a block copies something else, or beyond an array."""
    kernel = Windows()
    inputs = kernel.make_inputs(np.random.default_rng(0), kernel.sizes)
    found = _edited(_without(mutator))
    assert found.findings or not kernel.check(inputs, found.arrays).is_right


def test_a_map_that_was_changed_in_global_memory_is_released_too() -> None:
    """Without the release nobody can acquire it."""

    def edit(text: str) -> str:
        """Change the published map once more, by the thread that copies."""
        lines = text.splitlines(keepends=True)
        at = next(number for number, line in enumerate(lines) if "generic.acquire" in line)
        address = lines[at].split("[")[1].split("]")[0]
        change = f"    tensormap.replace.tile.global_dim.global.b1024.b32 [{address}], 0, 8;\n"
        return "".join([*lines[:at], change, *lines[at:]])

    found = _edited(edit).findings
    assert "missing-tensormap-fence" in {finding.kind for finding in found}
    assert any("was changed and not released since" in finding.message for finding in found)


WINDOW = "%wa = nv_tileas.view %a[%block, %zero] : !matrix -> !window"


def test_a_map_is_not_made_again_and_again() -> None:
    """The copies of an iteration would read the map of the next one."""
    text = window_kernel(BY_BLOCK + WINDOW)
    line = next(line for line in text.splitlines() if "%of_a = " in line)
    looped = f"scf.for %k = %zero to %one step %one {{\n{line}\n}}".replace("%of_a", "%again")
    with pytest.raises(DiagnosticError) as caught:
        compile(text.replace(line, f"{line}\n{looped}"))
    assert str(caught.value).endswith(
        "error: 'nv_tileas.make_tiled_tma_desc' op describes a window that only the device knows: "
        "made once, before loops and agents"
    )


def test_what_a_device_cannot_change_is_refused() -> None:
    body = f"{WINDOW}\n%width = arith.addi %block, %rows : index"
    text = window_kernel(BY_BLOCK + body).replace("box[%c32, %rows]", "box[%c32, %width]", 1)
    with pytest.raises(DiagnosticError) as caught:
        compile(text)
    assert "op TMA descriptor field is not device-mutable: 'box_dim'" in str(caught.value)


def test_views_that_are_seen_in_another_way_are_refused() -> None:
    body = dedent("""
    %flat = nv_tileas.view %a {offset = 32 : i64} : !matrix -> !window
    """)
    text = window_kernel(BY_BLOCK + body, of_a="%flat")
    with pytest.raises(DiagnosticError, match="shows memory in a way that is not lowered"):
        compile(text)

"""Descriptor arguments: a launch makes their tensor maps of the arrays it is given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.windows import window_kernel
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from kernels import Combine, Copy, Gemm, Kernel, Permute, Unroll, Windows
from kernels.simulating import parse, run
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.interpreters.tile.arguments import parameters_of
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import find_kernel, simulate
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.transforms.memory.tileas_attach_tma_descriptor_args import (
    TileasAttachTmaDescriptorArgs,
)


def attached(text: str, target: str = "sm_90a") -> ModuleOp:
    """The program, with its descriptors as arguments."""
    module = parse(text)
    TileasAttachTmaDescriptorArgs(target).apply(Context(), module)
    verify_module(module)
    return module


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


KERNELS = (
    Copy("f16"),
    Copy("i32", rows=4, columns=16),
    Gemm(bm=64, bn=64, bk=64, consumers=1, stages=2, epilogue="tma"),
    Windows("bf16"),
    Unroll(),
    Combine("i32", "umin"),
    Permute("bf16"),
)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernels_run_as_before(kernel: Kernel) -> None:
    """The arguments are those that the kernel had; descriptors are not the caller's to pass."""
    module = attached(kernel.text(), kernel.target)
    before = parameters_of(find_kernel(parse(kernel.text())))
    assert [str(p.type) for p in parameters_of(find_kernel(module))] == [
        str(p.type) for p in before
    ]
    assert run(kernel, module=module).deviation.is_right


def test_processes_share_the_arrays_behind_descriptors() -> None:
    kernel = Copy("f16")
    inputs = kernel.make_inputs(rng(), {"m": 64, "n": 96})
    found = simulate(attached(kernel.text()), inputs, grid=8, jobs=2)
    np.testing.assert_array_equal(found.arrays[1], inputs[0])


def test_more_arguments_than_the_callers_are_too_many() -> None:
    module, a = attached(Copy("f16").text()), np.zeros((8, 32), np.float16)
    with pytest.raises(ArgumentError, match=r"takes 2 arguments \(%a.*, %b.*\), but got 3"):
        simulate(module, [a, a, a])


WINDOW = """
%row_a = arith.addi %block, %zero : index
%row_b = arith.addi %block, %zero : index
%first = arith.constant 2 : index
%wa = nv_tileas.view %a[%first, %zero] : !matrix -> !window
"""


def test_windows_are_where_host_code_says() -> None:
    module = attached(window_kernel(WINDOW))
    a = rng().standard_normal((20, 40)).astype(np.float16)
    b = np.zeros((16, 32), np.float16)
    whole = TensorMap("f16", 0, (32, 16), (64,), (32, 8))
    window = TensorMap("f16", 2 * 80, (40, 18), (80,), (32, 8))
    found = simulate(module, [a, b], grid=2, host_maps=lambda: [window, whole]).arrays[1]
    np.testing.assert_array_equal(found, a[2:18, :32])


def test_a_window_needs_host_code() -> None:
    module = attached(window_kernel(WINDOW))
    a = np.zeros((20, 40), np.float16)
    text = r"argument 2 \(%of_a\) describes a part of %a and %b; only host code knows where"
    with pytest.raises(SimulationError, match=text) as raised:
        simulate(module, [a, a])
    assert raised.value.diagnostics[0].location is not None


def _smaller(a: np.ndarray) -> np.ndarray:
    """Rows of 36 elements are no multiple of 16 bytes."""
    return a[:, :36].copy()


@pytest.mark.parametrize(
    ("change", "array", "says"),
    [
        (("argument = 0", "argument = 7"), np.copy, "is of argument 7, no array"),
        (("element = f16", "element = f32"), np.copy, "moves elements f32, not as wide as those"),
        (("box = array<i64: 32, 8>", "box = array<i64: 32, 16>"), np.copy, "not made of boxes of"),
        (("", ""), _smaller, r"strides\[0\] is 72 bytes"),
    ],
)
def test_maps_that_there_are_not(
    change: tuple[str, str], array: Callable[[np.ndarray], np.ndarray], says: str
) -> None:
    old, new = change
    text = str(attached(Copy("f16").text()))
    assert old in text
    a = array(np.ones((8, 64), np.float16))
    with pytest.raises(SimulationError, match=says):
        simulate(parse(text.replace(old, new, 1) if old else text), [a, a])

"""What host code encodes for a launch on the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from support.windows import window_kernel
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from kernels.simulating import parse
from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.dialects.nv_tileas.tma.index import HOST_CODE
from tileas_xdsl.interpreters.tile.launch import find_kernel
from tileas_xdsl.runtime.host_tensor_maps import has_host_code, maps_of_launch
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.transforms.memory.tileas_attach_tma_descriptor_args import (
    TileasAttachTmaDescriptorArgs,
)
from tileas_xdsl.transforms.memory.tileas_separate_host_tma import TileasSeparateHostTma

BODY = """
%row_a = arith.addi %block, %zero : index
%row_b = arith.addi %block, %zero : index
%wa = nv_tileas.view %a[%n, %zero] : !matrix -> !window
"""


def module(arguments: str = "%a: !matrix, %b: !matrix, %n: index") -> ModuleOp:
    """The kernel with host code, its descriptors attached."""
    found = parse(window_kernel(BODY, arguments=arguments))
    assert not has_host_code(found)
    for each in (TileasSeparateHostTma(), TileasAttachTmaDescriptorArgs()):
        each.apply(Context(), found)
    assert has_host_code(found)
    return found


def maps(found: ModuleOp, *args: object) -> list[TensorMap]:
    return [*maps_of_launch(found, find_kernel(found), args)]


A, B = np.zeros((20, 40), np.float16), np.zeros((24, 64), np.float16)


def test_addresses_count_from_their_arrays() -> None:
    window, whole = maps(module(), A, B, 3)
    assert (window.address, window.dims, window.strides) == (3 * 80, (40, 17), (80,))
    assert (whole.address, whole.dims, whole.strides) == (0, (64, 24), (128,))
    assert window.box == whole.box == (32, 8)


def test_scalars_may_stand_before_arrays() -> None:
    window, _ = maps(module("%n: index, %a: !matrix, %b: !matrix"), 5, A, B)
    assert (window.address, window.dims) == (5 * 80, (40, 15))


def test_the_rule_that_a_map_breaks_is_told_at_the_kernel() -> None:
    with pytest.raises(OpError, match=r"1: error: tensor map 0: the address .* is not a multiple"):
        maps(module(), A[:, :36].copy(), B, 3)


def test_descriptors_that_host_code_does_not_know_are_refused() -> None:
    """The last argument no longer says what it is of."""
    found = module()
    kernel = find_kernel(found)
    attributes = kernel.arg_attrs
    assert attributes is not None
    kernel.properties["arg_attrs"] = type(attributes)([*attributes.data[:-1], attributes.data[0]])
    with pytest.raises(OpError, match="takes 1 descriptors, but its host code encodes 2"):
        maps(found, A, B, 3)


def test_a_module_with_host_code_is_compiled_and_run() -> None:
    """Its descriptors are arguments already; interpreter and emulator ask the same object."""
    made = compile_kernel(module())
    a = np.random.default_rng(3).standard_normal((20, 40)).astype(np.float16)
    expected = np.zeros((16, 32), np.float16)
    expected[:] = a[3:19, :32]
    b = np.zeros_like(expected)
    found = made.emulate(a, b, 3, grid=2, order="random")
    assert [str(finding) for finding in found.findings] == []
    for arrays in (found.arrays, made.simulate(a, b, 3, grid=2).arrays):
        np.testing.assert_array_equal(arrays[1], expected)


def test_without_its_object_it_is_refused() -> None:
    found = module()
    del found.attributes[HOST_CODE]
    made = compile_kernel(found)
    for run in (made.simulate, made.emulate):
        with pytest.raises(OpError, match="only host code knows where it begins"):
            run(A, B, 3, grid=2)

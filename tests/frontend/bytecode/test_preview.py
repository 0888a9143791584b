"""Bytecode of 13.5, as the public writer of cuda-tile makes it, is read as that of 13.4."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from support.cutile_programs import increment, row_sums

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.frontend.cutile.kernels import kernel_signature, parameters_of
from tileas_xdsl.frontend.cutile.tile_ir import bytecode_module
from tileas_xdsl.installed import registered_context

pytest.importorskip("cuda.tile")

VECTOR, MATRIX = np.zeros(64, np.float32), np.zeros((64, 64), np.float32)


def bytecode(kernel: Any, arguments: tuple[Any, ...], version: str) -> bytes:
    front_end: Any = import_module("cuda.tile._compile")
    versions: Any = import_module("cuda.tile._bytecode.version").BytecodeVersion
    made = front_end.compile_tile(
        kernel._annotated_function,
        (kernel_signature(kernel, parameters_of(kernel, arguments)),),
        "sm_90",
        kernel._compiler_options,
        import_module("cuda.tile._cext").default_tile_context,
        bytecode_version=versions[version],
        return_bytecode=True,
        return_cubin=False,
    )
    return bytes(made.bytecode)


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        (increment, (VECTOR, 32, 1.0)),
        (row_sums.replace_hints(occupancy=2), (MATRIX, VECTOR, 8, 64)),
    ],
)
def test_a_kernel_is_read_the_same(kernel: Any, arguments: tuple[Any, ...]) -> None:
    old, new = (bytecode(kernel, arguments, version) for version in ("V_13_4", "V_13_5"))
    assert old != new
    assert str(bytecode_module(kernel, new)) == str(bytecode_module(kernel, old))


RED = """\
builtin.module {
  cuda_tile.module @m {
    entry @k(%0: tile<ptr<f32>>, %1: tile<64xf32>, %2: tile<i32>) {
      %3 = make_tensor_view %0, shape = [64], strides = [1] : tensor_view<64xf32, strides=[1]>
      %4 = make_partition_view %3 : partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>
      %5 = atomic_red_view_tko relaxed device %4[%2], addf, %1 inbounds = [true] : \
tile<64xf32>, partition_view<tile=(64), tensor_view<64xf32, strides=[1]>>, tile<i32> -> token
      return
    }
  }
}"""


def test_reductions_say_what_is_in_bounds() -> None:
    assert str(parse_module(registered_context(), RED, "m.mlir")) == RED

"""Tile IR kernels, lowered to `nv_tileas` and run there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.tile.launch import simulate
from tileas_xdsl.transforms.conversion.convert_cudatile_to_tileaa import ConvertCudatileToTileaa
from tileas_xdsl.transforms.conversion.convert_tileaa_to_tileas import ConvertTileaaToTileas

Array = NDArray[Any]


def entry(arguments: str, body: str, hints: str = "") -> str:
    """Return a module with one kernel, whose block indices are `%x`, `%y` and `%z`."""
    return f"""cuda_tile.module @m {{
  entry @k({arguments}) {hints} {{
    %x, %y, %z = get_tile_block_id : tile<i32>
    {body}
    return
  }}
}}
"""


def lowered(text: str, target: str = "sm_90a") -> ModuleOp:
    """Lower a module by both conversions, verifying after each."""
    ctx = registered_context()
    module = parse_module(ctx, text)
    verify_module(module)
    for convert in (ConvertCudatileToTileaa(target), ConvertTileaaToTileas()):
        convert.apply(ctx, module)
        verify_module(module)
    return module


def run(
    text: str, *arguments: Any, grid: int | Sequence[int] = 1, target: str = "sm_90a"
) -> Sequence[Any]:
    """Run a kernel and return its arguments."""
    return simulate(lowered(text, target), arguments, grid=grid).arrays


TYPES: dict[str, str] = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e5m2": "f8E5M2",
    "float8_e8m0fnu": "f8E8M0FNU",
    "bool": "i1",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
}
"""Element types by numpy type name."""


def whole_tiles(
    body: str, inputs: Sequence[Array], outputs: Sequence[Array], target: str = "sm_90a"
) -> Sequence[Array]:
    """Run `body` in the kernel of `text_of_tiles`; return the results as arrays."""
    text = text_of_tiles(body, inputs, outputs)
    return run(text, *inputs, *outputs, target=target)[len(inputs) :]


def text_of_tiles(body: str, inputs: Sequence[Array], outputs: Sequence[Array]) -> str:
    """Return a kernel with input tiles `%a0`, `%a1` ... and result tiles `%r0`, `%r1` ..."""
    lines, arguments = list[str](), list[str]()
    for k, array in enumerate((*inputs, *outputs)):
        name = f"a{k}" if k < len(inputs) else f"r{k - len(inputs)}"
        tile, view = _tile(array), _view(array)
        strides = ", ".join(map(str, _strides(array.shape)))
        shape = ", ".join(map(str, array.shape))
        arguments.append(f"%p{k}: tile<ptr<{TYPES[array.dtype.name]}>>")
        partition = f"partition_view<tile=({'x'.join(map(str, array.shape))}), {view}>"
        index = ", ".join(["%zero"] * array.ndim)
        lines.append(
            f"%v{k} = make_tensor_view %p{k}, shape = [{shape}], strides = [{strides}] : {view}\n"
            f"%w{k} = make_partition_view %v{k} : {partition}"
        )
        place, types = f"%w{k}[{index}]", f"{partition}, tile<i32>"
        if k < len(inputs):
            lines.append(f"%{name}, %t{k} = load_view_tko weak {place} : {types} -> {tile}, token")
        else:
            store = f"store_view_tko weak %{name}, {place} : {tile}, {types} -> token"
            lines.append(f"%t{k} = {store}")
    border = len(inputs)
    return entry(
        ", ".join(arguments),
        "\n".join(["%zero = constant <i32: 0> : tile<i32>", *lines[: 2 * border], body])
        + "\n"
        + "\n".join(lines[2 * border :]),
    )


def _tile(array: Array) -> str:
    extents = "".join(f"{n}x" for n in array.shape)
    return f"tile<{extents}{TYPES[array.dtype.name]}>"


def _view(array: Array) -> str:
    extents = "".join(f"{n}x" for n in array.shape)
    strides = ",".join(map(str, _strides(array.shape)))
    return f"tensor_view<{extents}{TYPES[array.dtype.name]}, strides=[{strides}]>"


def _strides(shape: Sequence[int]) -> list[int]:
    return [int(np.prod(shape[k + 1 :])) for k in range(len(shape))]

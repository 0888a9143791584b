"""Tensor maps that a module's host code encodes for a launch on the interpreter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import BytesAttr, ModuleOp

from tileas_xdsl.analysis.values.launches.kernel_parameters import Parameter, parameters_of
from tileas_xdsl.backend.host import HostCodeError
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.tma.index import HOST_CODE
from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import recipes_of
from tileas_xdsl.dialects.nv_tileas.types import TmaDescType
from tileas_xdsl.runtime.host_code import HostCode, scalar_word
from tileas_xdsl.target.tma.tensor_map import TensorMap
from tileas_xdsl.target.tma.tensor_map_bytes import decode

_ROOM = 1 << 40
"""Bytes between the base addresses of arrays, so that they cannot overlap."""


def has_host_code(module: ModuleOp) -> bool:
    """Return whether a pass has attached the object that encodes the tensor maps of the kernels."""
    return isinstance(module.attributes.get(HOST_CODE), BytesAttr)


def maps_of_launch(
    module: ModuleOp, kernel: func.FuncOp, args: Sequence[Any]
) -> Sequence[TensorMap]:
    """Return the maps of the descriptor arguments in order; addresses are relative to their arrays.

    `args` are the row-major arrays and the scalars of the kernel.  Raises an error at the kernel
    where the object cannot be loaded or refuses a map.
    """
    inputs = [type_ for type_ in kernel.function_type.inputs if not isinstance(type_, TmaDescType)]
    if len(inputs) != len(args):
        raise op_error(kernel, "takes arguments that no launch passes, which host code would need")
    data = module.attributes[HOST_CODE]
    assert isinstance(data, BytesAttr)
    words = [_word(parameter, args) for parameter in parameters_of(kernel)]
    try:
        encoded = HostCode(data.data, kernel.sym_name.data).encode(words)
    except HostCodeError as error:
        raise op_error(kernel, str(error), prefix=False) from error
    recipes = recipes_of(kernel).values()
    if len(encoded) != len(recipes):
        text = f"takes {len(recipes)} descriptors, but its host code encodes {len(encoded)}"
        raise op_error(kernel, text)
    return [
        _from_beginning(decode(one), recipe.argument)
        for one, recipe in zip(encoded, recipes, strict=True)
    ]


def _from_beginning(found: TensorMap, argument: int) -> TensorMap:
    return replace(found, address=found.address - _base(argument))


def _base(argument: int) -> int:
    return (argument + 1) * _ROOM


def _word(parameter: Parameter, args: Sequence[Any]) -> int:
    value = args[parameter.argument]
    match parameter:
        case Parameter("ptr", argument):
            return _base(argument)
        case Parameter("size", _, int(axis)):
            return int(np.shape(value)[axis])
        case Parameter("stride", _, int(axis)):
            return int(np.prod(np.shape(value)[axis + 1 :], dtype=np.int64))
        case _:
            return scalar_word(value)

"""Descriptor arguments of a launch: tensor maps of array arguments, made by their recipes.

The map of a whole array follows from the array.  The origin of a window is computed by host code,
which is called for its map.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, BlockArgument, Operation

from tileas_xdsl.dialects.nv_tileas.tma.tensor_map_recipes import TensorMapRecipe, recipes_of
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.argument_arrays import BoundArray
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Memory
from tileas_xdsl.interpreters.tile.memory.views import View, contiguous
from tileas_xdsl.interpreters.tile.numerics.element_sizes import bits_of_element
from tileas_xdsl.interpreters.tile.numerics.element_types import dtype_of
from tileas_xdsl.interpreters.tile.semantics.tma.descriptors import Descriptor, Modes, tensor_map_of
from tileas_xdsl.target.tma.tensor_map import PixelBox, TensorMap

HostMaps: TypeAlias = Callable[[], Sequence[TensorMap]]
"""Return the tensor maps that host code encodes for the descriptor arguments of a launch, in order;
an address is a byte offset from the beginning of its array.
"""


def bound_descriptors(
    kernel: func.FuncOp, values: Mapping[int, Any], host_maps: HostMaps | None
) -> Mapping[int, Descriptor]:
    """Return the descriptors of a launch by argument position; a fault where none is possible.

    `values` are the arrays and scalars by argument position.
    """
    recipes = recipes_of(kernel)
    maps: Sequence[TensorMap] | None = None
    if host_maps is not None and any(recipe.is_window for recipe in recipes.values()):
        maps = host_maps()
    found: dict[int, Descriptor] = {}
    for index, (position, recipe) in enumerate(recipes.items()):
        argument = kernel.body.blocks[0].args[position]
        at = _first_use(kernel, argument)
        array = values.get(recipe.argument)
        if not isinstance(array, BoundArray):
            raise fault(at, f"{_title(argument)} is of argument {recipe.argument}, no array")
        element = _element(at, recipe, array)
        if recipe.extents is None:
            view = contiguous(array.memory, array.offset, array.shape, element)
        else:
            view = _pointed(at, array, element, *recipe.extents.of_launch(values))
        if recipe.is_window:
            if maps is None:
                raise fault(at, _unknown(argument, array.memory))
            view = _window(view, maps[index])
        box = tuple(reversed(recipe.box))
        tensor_map = tensor_map_of(at, view, recipe.box, _modes(recipe))
        found[position] = Descriptor(view, box, tensor_map, recipe.pixels)
    return found


def _first_use(kernel: func.FuncOp, argument: BlockArgument) -> Operation:
    """Return the first operation that uses a descriptor, or the kernel."""
    users = {use.operation for use in argument.uses}
    return next((op for op in kernel.walk() if op in users), kernel) if users else kernel


def _title(argument: BlockArgument) -> str:
    name = f" (%{argument.name_hint})" if argument.name_hint else ""
    return f"descriptor argument {argument.index}{name}"


def _unknown(argument: BlockArgument, memory: Memory) -> str:
    text = f"{_title(argument)} describes a part of {memory.name}"
    return f"{text}; only host code knows where it begins, and there is none"


def _element(at: Operation, recipe: TensorMapRecipe, array: BoundArray) -> Attribute:
    """Return the element type of a transfer: signedness is the map's."""
    element = recipe.element
    if isinstance(element, IntegerType):
        element = IntegerType(bits_of_element(cast("Attribute", element)))
    if dtype_of(element).itemsize != array.dtype.itemsize:
        raise fault(at, f"moves elements {element}, not as wide as those of {array.memory.name}")
    return element


def _modes(recipe: TensorMapRecipe) -> Modes:
    pixels = recipe.pixels
    box = None if pixels is None else PixelBox(pixels.lower, pixels.upper)
    return Modes(recipe.swizzle or "none", recipe.nan_fill, box)


def _pointed(
    at: Operation,
    array: BoundArray,
    element: Attribute,
    shape: Sequence[int],
    strides: Sequence[int],
) -> View:
    """Return the array behind a pointer; raise a fault if its memory is too small."""
    memory, itemsize = array.memory, array.dtype.itemsize
    last = sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    if prod(shape) and array.offset + (last + 1) * itemsize > memory.size:
        text = f"describes {'x'.join(map(str, shape))} elements, the last of which is element"
        raise fault(at, f"{text} {last} of {memory.name}, out of bounds")
    steps = tuple(step * itemsize for step in strides)
    return View(memory, array.offset, tuple(shape), steps, element, tuple((0, n) for n in shape))


def _window(whole: View, tensor_map: TensorMap) -> View:
    """Return the part of an array that a tensor map describes."""
    itemsize, bits = whole.dtype.itemsize, bits_of_element(whole.element)
    dims = tuple(reversed(tensor_map.dims))
    outer = [stride * 8 // bits * itemsize for stride in reversed(tensor_map.strides)]
    return View(
        whole.memory,
        whole.offset + tensor_map.address * 8 // bits * itemsize,
        dims,
        (*outer, itemsize),
        whole.element,
        tuple((0, extent) for extent in dims),
    )

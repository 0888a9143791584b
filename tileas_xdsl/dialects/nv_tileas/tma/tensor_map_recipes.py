"""Recipes of tensor maps as attributes: on descriptor arguments, and on their kernel.

A recipe has the index of the array argument, the box with the innermost extent first, element type,
swizzle and fill; `window` if the map starts elsewhere than its array, so that only host code can
encode it; the fields of `tma_pixels` for im2col maps.  If the argument is a pointer, `sizes` and
`strides` of the array in elements: constants, or indices of arguments.  `slices` is the dimension
along which copies move slices (`target.tma.array_slices`); `list` if the argument is a list;
`written` if tiles are stored by it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.im2col import NAMES, Pixels
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.kernel_abi import SCALAR, Count, Extents, Passed
from tileas_xdsl.target.kernel_abi import TensorMapRecipe as LaunchRecipe
from tileas_xdsl.target.tma.tensor_map import PixelBox, tensor_map_element

RECIPE = "nv_tileas.tensor_map"
"""On a descriptor argument."""


@dataclass
class TensorMapRecipe:
    """What the host must know to make the tensor map that a kernel takes."""

    argument: int
    """The array: the position of a parameter of the tile kernel."""
    box: tuple[int, ...]
    """Extents as given in the program, innermost first."""
    element: Attribute
    nan_fill: bool = False
    swizzle: str | None = None
    """The layout of the tiles that it loads or stores; None until one is known."""
    panel: int = 0
    """The innermost extent of the box of one instruction."""
    is_window: bool = False
    """Whether it begins elsewhere than its array: only host code makes such a map."""
    sign: Signedness | None = None
    """How integers are compared; None where none are."""
    pixels: Pixels | None = None
    """Of columns of pixels (im2col)."""
    extents: Extents | None = None
    """Of the array behind a pointer; None where the argument is the array."""
    slices: int | None = None
    """The dimension along which copies move slices of the array; None where they move all."""
    is_of_list: bool = False
    """Whether the argument is a list of arrays, each of which has such a map in its table."""
    is_written: bool = False
    """Whether tiles are stored by it, and none are loaded."""


def attribute_of(recipe: TensorMapRecipe) -> DictionaryAttr:
    """The recipe as an attribute."""
    entries: Any = {
        "argument": IntegerAttr(recipe.argument, 64),
        "box": DenseArrayBase.from_list(i64, list(recipe.box)),
        "element": recipe.element,
        "swizzle": StringAttr(recipe.swizzle or "none"),
        "nan_fill": BoolAttr.from_bool(recipe.nan_fill),
    }
    if recipe.is_window:
        entries["window"] = UnitAttr()
    if recipe.extents is not None:
        entries["sizes"] = _counts_attribute(recipe.extents.sizes)
        entries["strides"] = _counts_attribute(recipe.extents.strides)
    if recipe.is_of_list:
        entries["list"] = UnitAttr()
    if recipe.is_written:
        entries["written"] = UnitAttr()
    if recipe.slices is not None:
        entries["slices"] = IntegerAttr(recipe.slices, 64)
    if recipe.pixels is not None:
        said = (recipe.pixels.lower, recipe.pixels.upper, recipe.pixels.filter)
        for name, numbers in zip(NAMES, said, strict=True):
            entries[name] = DenseArrayBase.from_list(i64, list(numbers))
    return DictionaryAttr(entries)


def recipe_from(attributes: Mapping[str, Attribute]) -> TensorMapRecipe | None:
    """The recipe that a descriptor argument has, None if it has none."""
    found = attributes.get(RECIPE)
    if not isinstance(found, DictionaryAttr):
        return None
    match dict(found.data):
        case {
            "argument": IntegerAttr() as argument,
            "box": DenseArrayBase() as box,
            "element": element,
            "swizzle": StringAttr() as swizzle,
            "nan_fill": IntegerAttr() as nan_fill,
            **others,
        }:
            extents = _numbers(box)
            return TensorMapRecipe(
                argument.value.data,
                extents,
                element,
                bool(nan_fill.value.data),
                swizzle.data,
                next(iter(extents), 0),
                "window" in others,
                pixels=_pixels(others),
                extents=extents_from(others),
                slices=_slices(others),
                is_of_list="list" in others,
                is_written="written" in others,
            )
        case _:
            return None


def _pixels(entries: Mapping[str, Attribute]) -> Pixels | None:
    found = [_numbers(entries[name]) for name in NAMES if name in entries]
    return Pixels(*found) if len(found) == len(NAMES) else None


def _slices(entries: Mapping[str, Attribute]) -> int | None:
    axis = entries.get("slices")
    return axis.value.data if isinstance(axis, IntegerAttr) else None


def extents_from(entries: Mapping[str, Attribute]) -> Extents | None:
    """Sizes and strides of the array behind a pointer, None where the argument is the array."""
    if "sizes" not in entries or "strides" not in entries:
        return None
    return Extents(_counts(entries["sizes"]), _counts(entries["strides"]))


def _counts_attribute(counts: Sequence[Count]) -> ArrayAttr[Attribute]:
    return ArrayAttr(
        [IntegerAttr(n, i64) if isinstance(n, int) else StringAttr(str(n)) for n in counts]
    )


def _counts(attribute: Attribute) -> tuple[Count, ...]:
    assert isinstance(attribute, ArrayAttr)
    return tuple(_count(item) for item in cast("ArrayAttr[Attribute]", attribute))


def _count(item: Attribute) -> Count:
    if isinstance(item, StringAttr):
        return Passed(int(item.data.removeprefix(SCALAR)))
    assert isinstance(item, IntegerAttr)
    return item.value.data


def _numbers(attribute: Attribute) -> tuple[int, ...]:
    if not isinstance(attribute, DenseArrayBase):
        return ()
    return tuple(int(n) for n in cast("DenseArrayBase[IntegerType]", attribute).get_values())


def launch_recipe(entry: Mapping[str, Attribute]) -> LaunchRecipe:
    """The recipe of an attribute (`attribute_of`) as a launch takes it.

    Raises `TargetError` for elements that no tensor map has.
    """
    type_ = entry["element"]
    bits = bits_of(type_)
    element = tensor_map_element(element_name(type_), bits)
    if element is None:
        raise TargetError(f"tensor maps have no elements {type_}")
    argument, swizzle, nan_fill = entry["argument"], entry["swizzle"], entry["nan_fill"]
    assert isinstance(argument, IntegerAttr)
    assert isinstance(swizzle, StringAttr)
    pixels = _pixels(entry)
    return LaunchRecipe(
        argument.value.data,
        _numbers(entry["box"]),
        element,
        bits,
        swizzle.data,
        isinstance(nan_fill, IntegerAttr) and bool(nan_fill.value.data),
        "window" in entry,
        None if pixels is None else PixelBox(pixels.lower, pixels.upper),
        extents_from(entry),
        _slices(entry),
        "list" in entry,
        "written" in entry,
    )


def recipes_of(kernel: func.FuncOp) -> Mapping[int, TensorMapRecipe]:
    """The recipes of the descriptor arguments of a kernel, by position."""
    attributes = () if kernel.arg_attrs is None else kernel.arg_attrs.data
    found = {position: recipe_from(entry.data) for position, entry in enumerate(attributes)}
    return {position: recipe for position, recipe in found.items() if recipe is not None}

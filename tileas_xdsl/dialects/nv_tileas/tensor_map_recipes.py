"""Recipes of tensor maps as attributes: of descriptor arguments, and of the kernel that has them.

The place of the array among the arguments, the box with the innermost extent first, the element,
swizzle and fill; `window` where the map begins elsewhere than its array, so that only host code
makes it; the names of `tma_pixels` where it is of columns of pixels (im2col).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
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

from tileas_xdsl.dialects.nv_tileas.tma_pixels import NAMES, Pixels

RECIPE = "nv_tileas.tensor_map"
"""On a descriptor argument."""


@dataclass
class TensorMapRecipe:
    """What the host must know to make the tensor map that a kernel takes."""

    argument: int
    """The array: the position of a parameter of the tile kernel."""
    box: tuple[int, ...]
    """Innermost first, as the program says it."""
    element: Attribute
    nan_fill: bool = False
    swizzle: str | None = None
    """How the tiles lie that it fills or empties; None until one is seen."""
    panel: int = 0
    """The innermost extent of the box of one instruction."""
    is_window: bool = False
    """Whether it begins elsewhere than its array: only host code makes such a map."""
    sign: Signedness | None = None
    """How integers are compared; None where none are."""
    pixels: Pixels | None = None
    """Of columns of pixels (im2col)."""


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
            )
        case _:
            return None


def _pixels(entries: Mapping[str, Attribute]) -> Pixels | None:
    found = [_numbers(entries[name]) for name in NAMES if name in entries]
    return Pixels(*found) if len(found) == len(NAMES) else None


def _numbers(attribute: Attribute) -> tuple[int, ...]:
    if not isinstance(attribute, DenseArrayBase):
        return ()
    return tuple(int(n) for n in cast("DenseArrayBase[IntegerType]", attribute).get_values())


def recipes_of(kernel: func.FuncOp) -> Mapping[int, TensorMapRecipe]:
    """The recipes of the descriptor arguments of a kernel, by position."""
    attributes = () if kernel.arg_attrs is None else kernel.arg_attrs.data
    found = {position: recipe_from(entry.data) for position, entry in enumerate(attributes)}
    return {position: recipe for position, recipe in found.items() if recipe is not None}

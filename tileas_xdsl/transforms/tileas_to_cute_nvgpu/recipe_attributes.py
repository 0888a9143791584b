"""Recipes of tensor maps as attributes: of descriptor arguments, and of the kernel that has them.

The place of the array among the arguments, the box with the innermost extent first, the element,
swizzle and fill; `window` where the map begins elsewhere than its array, so that only host code
makes it; `pixel_lower` and `pixel_upper` where it is of columns of pixels (im2col).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Attribute

from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import TensorMapRecipe

RECIPE = "nv_tileas.tensor_map"
"""On a descriptor argument."""


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
        entries["pixel_lower"] = DenseArrayBase.from_list(i64, list(recipe.pixels.lower))
        entries["pixel_upper"] = DenseArrayBase.from_list(i64, list(recipe.pixels.upper))
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
            extents = tuple(int(n) for n in cast("DenseArrayBase[IntegerType]", box).get_values())
            return TensorMapRecipe(
                argument.value.data,
                extents,
                element,
                bool(nan_fill.value.data),
                swizzle.data,
                next(iter(extents), 0),
                "window" in others,
            )
        case _:
            return None

"""Tensor maps that a kernel requires: hidden arguments after the declared ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Block, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import tma_descriptor
from tileas_xdsl.layout import Swizzle


@dataclass
class TensorMaps:
    """The tensor maps of a kernel, by what they describe."""

    block: Block
    arrays: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """The views that are arguments, with their numbers at a launch."""
    recipes: dict[DictionaryAttr, SSAValue] = field(default_factory=dict[DictionaryAttr, SSAValue])
    swizzles: dict[SSAValue, Swizzle] = field(default_factory=dict[SSAValue, Swizzle])
    """How what a map copies lies in shared memory."""

    def argument(self, recipe: DictionaryAttr, swizzle: Swizzle) -> SSAValue:
        """The tensor map of a recipe; each is asked for once."""
        found = self.recipes.get(recipe)
        if found is None:
            found = self.block.insert_arg(tma_descriptor, len(self.block.args))
            self.recipes[recipe], self.swizzles[found] = found, swizzle
        return found

    @property
    def parameters(self) -> Sequence[str]:
        """How a launch calls them."""
        return [f"tensor map {number}" for number in range(len(self.recipes))]

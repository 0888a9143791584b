"""Kernels that several tests of a file look at are compiled once."""

from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from tileas_xdsl import compiler
from tileas_xdsl.frontend.cutile.kernels import parameters_of
from tileas_xdsl.frontend.cutile.tile_ir import kernel_module
from tileas_xdsl.frontend.inputs import load_tile_ir
from tileas_xdsl.installed import registered_context
from tileas_xdsl.target.launches.bounded_rows import BoundedRows
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.specializations import ChooseSpecialization, LaunchPredicate
from tileas_xdsl.target.launches.whole_tiles import WholeTiles


@lru_cache(maxsize=32)
def compile(text: str, *arguments: Any, **options: Any) -> compiler.CompiledKernel:
    """As `tileas_xdsl.compile` for text; the same text with the same options is compiled once."""
    return compiler.compile(text, *arguments, **options)


class OfRows(NamedTuple):
    """Launches with rows of so many elements, and nothing else that code is specialized for."""

    length: int

    def __call__(self, predicate: LaunchPredicate) -> bool:
        is_known = isinstance(predicate, BoundedRows)
        return is_known and predicate.least <= self.length <= predicate.most


class OfFewTileBlocks(NamedTuple):
    """Launches of so few tile blocks that so many CTAs divide each."""

    count: int

    def __call__(self, predicate: LaunchPredicate) -> bool:
        return isinstance(predicate, FewTileBlocks) and predicate.count == self.count


class OfWholeTiles(NamedTuple):
    """Launches whose extents tiles divide, and nothing else that code is specialized for."""

    def __call__(self, predicate: LaunchPredicate) -> bool:
        return isinstance(predicate, WholeTiles)


def specialized(
    kernel: Any, *arguments: Any, choose: ChooseSpecialization, target: str = "sm_90a"
) -> compiler.CompiledKernel:
    """Compile a kernel of cuTile for the launches that `choose` stands for, and not for others too.

    Once for equal parameters, launches and targets.
    """
    return _specialized(kernel, parameters_of(kernel, arguments), choose, target)


@lru_cache(maxsize=32)
def _specialized(
    kernel: Any, parameters: Any, choose: ChooseSpecialization, target: str
) -> compiler.CompiledKernel:
    ctx, module = registered_context(), kernel_module(kernel, parameters)
    load_tile_ir(ctx)
    made = compiler.compile_module(module, ctx, target, choose=choose)
    return replace(made, parameters=parameters)

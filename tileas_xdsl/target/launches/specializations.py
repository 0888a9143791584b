"""Specializations of a kernel, and the predicates over launches that select one.

Unspecialized code is right for any launch.  Specialized code is faster for those of which a
predicate holds (function multiversioning, with the launch as the dispatcher): CTAs take one tile
block after another, are clusters, divide a tile block or share the last ones, or are compiled for
rows of a known length, or for tiles that are whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from tileas_xdsl.target.launches.bounded_rows import BoundedRows
from tileas_xdsl.target.launches.divided_sums import DividedSums
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches
from tileas_xdsl.target.launches.shared_loads import SharedLoads
from tileas_xdsl.target.launches.uneven_waves import UnevenWaves
from tileas_xdsl.target.launches.whole_tiles import WholeTiles

Grid: TypeAlias = tuple[int, int, int]

LaunchPredicate: TypeAlias = (
    PersistentLaunches
    | SharedLoads
    | FewTileBlocks
    | UnevenWaves
    | BoundedRows
    | DividedSums
    | WholeTiles
)
"""A condition on the grid, the scalars and the extents of a launch, and on its GPU."""

ChooseSpecialization: TypeAlias = Callable[[LaunchPredicate], bool]
"""Whether a predicate holds for the launches that code is compiled for."""


def unspecialized(predicate: LaunchPredicate) -> bool:
    """Let no predicate hold: each CTA takes one tile block, and loads by itself."""
    del predicate
    return False


RowLengths: TypeAlias = tuple[int, int]
"""The least and the most elements of rows."""


class Specialization(NamedTuple):
    """What a kernel is specialized for; the defaults are for any launch.

    By these each CTA takes one tile block, loads by itself, and knows no length of a row.
    """

    is_persistent: bool = False
    """Whether CTAs take one tile block after another."""
    cluster: Grid = (1, 1, 1)
    """The tile blocks along each axis that are a cluster."""
    few_ctas: int = 0
    """How many CTAs compute a tile block of a launch whose CTAs all run at once; 0 of others."""
    is_dealt: bool = False
    """Whether CTAs share the tile blocks of the last waves."""
    row_lengths: RowLengths | None = None
    is_divided: bool = False
    """Whether CTAs divide the iterations of each tile block."""
    fills_tiles: bool = False
    """Whether tiles divide the extents that loops mask else."""


def chosen_loads(
    predicates: Iterable[SharedLoads], choose: ChooseSpecialization
) -> SharedLoads | None:
    """Return the first predicate that holds."""
    return next((predicate for predicate in predicates if choose(predicate)), None)


def chosen_count(predicates: Iterable[FewTileBlocks], choose: ChooseSpecialization) -> int:
    """Return into how many CTAs the first predicate that holds divides tile blocks; 0 for none."""
    return next((predicate.count for predicate in predicates if choose(predicate)), 0)


def chosen_lengths(asked: BoundedRows | None, choose: ChooseSpecialization) -> RowLengths | None:
    """Return the lengths of rows that code is specialized for; None for rows of any length.

    A launch whose arrays differ in the length of their rows may want neither half.
    """
    while asked is not None and choose(asked):
        if (halves := asked.halves()) is None:
            return (asked.least, asked.most) if asked.gains else None
        shorter, longer = halves
        asked = shorter if choose(shorter) else longer
    return None


def suits(
    predicate: LaunchPredicate, args: Sequence[Any], grid: Grid, of_clusters: Callable[[int], int]
) -> bool:
    """Whether a predicate holds for a launch on the GPU that it is on.

    `of_clusters` returns how many multiprocessors clusters of so many CTAs can be on; it is asked
    where all of them would suffice.
    """
    everywhere = of_clusters(1)
    if not predicate.suits(args, grid, everywhere):
        return False
    if isinstance(predicate, SharedLoads):
        return predicate.has_room(grid, everywhere, of_clusters(predicate.count))
    count = predicate.count if isinstance(predicate, FewTileBlocks) else 1
    return count == 1 or predicate.suits(args, grid, of_clusters(count))

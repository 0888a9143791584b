"""What launches decide: which form of a kernel runs, of those that one was compiled to.

The usual form is for any launch.  Others are faster for some launches, and each question says for
which: whether CTAs take one tile block after another, are clusters, divide a tile block or share
the last ones, or know the length of their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from tileas_xdsl.target.launches.bounded_rows import BoundedRows
from tileas_xdsl.target.launches.few_tile_blocks import FewTileBlocks
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches
from tileas_xdsl.target.launches.shared_loads import SharedLoads
from tileas_xdsl.target.launches.uneven_waves import UnevenWaves

Grid: TypeAlias = tuple[int, int, int]

Question: TypeAlias = PersistentLaunches | SharedLoads | FewTileBlocks | UnevenWaves | BoundedRows
"""What a launch decides: whether CTAs take many tile blocks, are clusters, divide or share some."""

ChooseForm: TypeAlias = Callable[[Question], bool]
"""Whether the launches that code is for run the form of a kernel that a question is about."""


def usual_form(question: Question) -> bool:
    """Choose the form whose CTAs take one tile block each, and load by themselves."""
    del question
    return False


RowLengths: TypeAlias = tuple[int, int]
"""The least and the most elements of rows."""


class Form(NamedTuple):
    """Which one of the forms of a kernel that launches decide between; the usual one without words.

    In that CTAs take one tile block each, load by themselves, and know no length of a row.
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


def chosen_loads(questions: Iterable[SharedLoads], choose: ChooseForm) -> SharedLoads | None:
    """Return the first question that launches agree to."""
    return next((question for question in questions if choose(question)), None)


def chosen_count(questions: Iterable[FewTileBlocks], choose: ChooseForm) -> int:
    """Return how many CTAs the first question that launches agree to asks for; 0 for none."""
    return next((question.count for question in questions if choose(question)), 0)


def chosen_lengths(asked: BoundedRows | None, choose: ChooseForm) -> RowLengths | None:
    """Return the lengths of rows of the form that launches want; None for that of any length.

    A launch whose arrays differ in the length of their rows may want neither half.
    """
    while asked is not None and choose(asked):
        if (halves := asked.halves()) is None:
            return (asked.least, asked.most) if asked.gains else None
        shorter, longer = halves
        asked = shorter if choose(shorter) else longer
    return None


def suits(
    question: Question, args: Sequence[Any], grid: Grid, of_clusters: Callable[[int], int]
) -> bool:
    """Whether a launch gains by the form that a question is about, on the GPU that it is on.

    `of_clusters` returns how many multiprocessors clusters of so many CTAs can be on; it is asked
    where all of them would suffice.
    """
    everywhere = of_clusters(1)
    if not question.suits(args, grid, everywhere):
        return False
    if isinstance(question, SharedLoads):
        return question.has_room(grid, everywhere, of_clusters(question.count))
    count = question.count if isinstance(question, FewTileBlocks) else 1
    return count == 1 or question.suits(args, grid, of_clusters(count))

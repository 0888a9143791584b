"""Source maps: where each target register finds its element, in the nearest replica.

If element 5 is to be in register 0 of thread 1, and register 1 of threads 1 and 9 hold it in the
source, then the map has thread 1, register 1 there: the thread itself is nearer than a lane is.
"""

from __future__ import annotations

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.convert.plan import Kind
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import show
from tileas_xdsl.layout.registers.access import Bools, Ints
from tileas_xdsl.layout.registers.register_layout import RegisterContents, RegisterLayout
from tileas_xdsl.layout.units import WARP


@dataclass(frozen=True, eq=False, slots=True)
class SourceMap:
    """For each register of the target, `(threads, values)`: the thread and register to read."""

    thread: Ints
    """-1 where the target register is empty."""
    register: Ints

    @property
    def empty(self) -> Bools:
        """Which target registers hold nothing."""
        return np.less(self.thread, 0)

    def strays(self, kind: Kind) -> Ints:
        """The `(thread, value)` pairs of the target that a plan of this kind cannot serve."""
        reader = np.arange(len(self.thread), dtype=np.int64)[:, None]
        elsewhere = np.not_equal(self.thread, reader)
        moved = np.not_equal(self.register, np.arange(self.register.shape[1], dtype=np.int64))
        wrong: dict[Kind, Bools] = {
            "identity": elsewhere | moved,
            "permutation": elsewhere,
            "shuffle": np.not_equal(self.thread // WARP, reader // WARP),
            "shared": np.zeros(self.thread.shape, dtype=np.bool_),
        }
        return np.argwhere(wrong[kind] & ~self.empty)

    @property
    def stays_in_warps(self) -> bool:
        """Whether each thread reads from lanes of its own warp."""
        return not len(self.strays("shuffle"))

    def kind(self) -> Kind:
        """The least class of plan that serves every register."""
        kinds: tuple[Kind, ...] = ("identity", "permutation", "shuffle")
        for kind in kinds:
            if not len(self.strays(kind)):
                return kind
        return "shared"


def find_sources(source: RegisterLayout, target: RegisterContents) -> SourceMap:
    """The nearest replica of each element: in the same thread, else the same warp, else anywhere.

    Lanes are near when their numbers differ in low bits only, which spreads the readers of
    replicas evenly; in a thread the register of the same number is nearest.
    """
    check_same_elements(source, target)
    held = np.maximum(target.held, 0)
    thread = source.thread_table[:, held]
    register = source.value_table[:, held]
    reader = np.arange(target.threads, dtype=np.int64)[:, None]
    same = register == np.arange(target.values)
    farness = (thread ^ reader) * (source.values + 1) + np.where(same, 0, register + 1)
    best = farness.argmin(axis=0)[None]
    empty = target.held < 0
    return SourceMap(
        np.where(empty, -1, np.take_along_axis(thread, best, axis=0)[0]),
        np.where(empty, -1, np.take_along_axis(register, best, axis=0)[0]),
    )


def check_same_elements(source: RegisterLayout, target: RegisterContents) -> None:
    """Raise `LayoutError` unless the layouts hold one tile on one group of threads."""
    if source.shape != target.shape:
        raise LayoutError(
            f"cannot convert a {show(source.shape)} tile to a {show(target.shape)} tile"
        )
    if source.threads != target.threads:
        raise LayoutError(
            f"cannot convert between {source.threads} threads and {target.threads} threads: "
            f"give the smaller fragment idle threads"
        )

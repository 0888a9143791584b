"""Attributes of `nv_tileaa` that passes of `nv_tileas` read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from math import prod

from xdsl.ir import Data, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.kernel_abi import persistent_ctas
from tileas_xdsl.target.launches.divided_sums import INTERPRETED_PARTS
from tileas_xdsl.target.launches.specializations import Grid

KERNEL_SPEC = "nv_tileaa.kernel_spec"
"""The name under which a kernel carries its specification."""

ROUNDS_UP = "nv_tileas.rounds_up_grid"
"""Attribute of a kernel whose tile blocks behind the grid store nothing: they complete clusters."""

ARRAYS_ARE_LISTED = "nv_tileaa.arrays_are_listed"
"""Of a kernel whose launches write a table for each list of arrays, and tensor maps into it."""

CTAS_HINT = "nv_tileaa.num_cta_in_cga"
WARPS_HINT = "nv_tileaa.num_worker_warps_per_cta"
"""How many CTAs a kernel asks to compute each tile block together (`num_ctas` of cuTile)."""


@dataclass(frozen=True)
class KernelSpec:
    """How a kernel is launched: warps and registers of a block, blocks of a cluster."""

    num_warps: int = 4
    num_ctas: int = 1
    cluster_dim: tuple[int, ...] = ()
    """Blocks of a cluster along x, y, z; empty for `num_ctas` along x."""
    occupancy: int = 1
    """Blocks that should fit on a multiprocessor at once."""
    max_regs: int = 0
    """Registers of a thread; 0 leaves it to the assembler."""
    tile_block_ctas: int = 1
    """CTAs along x that compute one tile block together; a grid counts tile blocks."""

    persistent: int = 0
    """1 where a CTA takes tile blocks as far apart as there are CTAs (`tileas-make-persistent`)."""

    divided: int = 0
    """1 where CTAs divide the iterations of each tile block (`tileas-divide-sums`)."""

    def ctas(self, grid: Grid) -> Grid:
        """Return the CTAs of a launch with a grid of tile blocks."""
        if self.divided:
            return prod(grid) * INTERPRETED_PARTS * self.tile_block_ctas, 1, 1
        if self.persistent:
            return persistent_ctas(grid, self.tile_block_ctas, cluster=self.num_ctas)
        x, y, z = grid
        return x * self.tile_block_ctas, y, z

    def problem(self) -> str | None:
        """What is wrong with the numbers, None if nothing is."""
        if self.num_warps < 1 or self.num_warps > 32:
            return f"num_warps is 1 to 32, not {self.num_warps}"
        if min(self.num_ctas, self.occupancy, self.tile_block_ctas) < 1:
            return "num_ctas, occupancy and tile_block_ctas are at least 1"
        if len(self.cluster_dim) not in (0, 3):
            return f"cluster_dim has three extents, not {len(self.cluster_dim)}"
        if self.persistent not in (0, 1):
            return f"persistent is 0 or 1, not {self.persistent}"
        if self.divided not in (0, 1):
            return f"divided is 0 or 1, not {self.divided}"
        if not 0 <= self.max_regs <= 255:
            return f"max_regs is at most 255, not {self.max_regs}"
        return None


@irdl_attr_definition
class KernelSpecAttr(Data[KernelSpec]):
    """`#nv_tileaa.kernel_spec<num_warps = 12, cluster_dim = [2, 1, 1]>`."""

    name = KERNEL_SPEC

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> KernelSpec:
        known = [f.name for f in fields(KernelSpec)]

        def parse_field() -> tuple[str, int | tuple[int, ...]]:
            key = parser.parse_identifier()
            if key not in known:
                parser.raise_error(f"a kernel spec has no '{key}'; it has {', '.join(known)}")
            parser.parse_punctuation("=")
            numbers = parser.parse_optional_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
            )
            if (numbers is not None) != (key == "cluster_dim"):
                parser.raise_error(f"'{key}' of a kernel spec is not written like this")
            if numbers is not None:
                return key, tuple(numbers)
            return key, parser.parse_integer(allow_boolean=False)

        with parser.in_angle_brackets():
            pairs: Sequence[tuple[str, int | tuple[int, ...]]] = parser.parse_comma_separated_list(
                parser.Delimiter.NONE, parse_field
            )
        return KernelSpec(**dict(pairs))  # pyright: ignore[reportArgumentType]

    def print_parameter(self, printer: Printer) -> None:
        defaults = KernelSpec()
        parts = [f"num_warps = {self.data.num_warps}"]
        for f in fields(KernelSpec)[1:]:
            value: int | tuple[int, ...] = getattr(self.data, f.name)
            if value != getattr(defaults, f.name):
                parts.append(f"{f.name} = {list(value) if isinstance(value, tuple) else value}")
        with printer.in_angle_brackets():
            printer.print_string(", ".join(parts))

    def verify(self) -> None:
        if (problem := self.data.problem()) is not None:
            raise VerifyException(problem)


def spec_of(kernel: Operation) -> KernelSpec:
    """Return how a kernel is launched; the defaults where it does not say."""
    spec = kernel.attributes.get(KERNEL_SPEC)
    return spec.data if isinstance(spec, KernelSpecAttr) else KernelSpec()

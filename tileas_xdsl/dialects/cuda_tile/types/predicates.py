"""What `assume` may state about a value: `div_by`, `same_elements` and `bounded`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, IntegerType
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.dialects.assumed_facts import BoundsAttr, DivisibilityAttr
from tileas_xdsl.dialects.clauses import INTEGERS, Clause, ClausedType
from tileas_xdsl.dialects.cuda_tile.types.scalars import is_integer
from tileas_xdsl.dialects.cuda_tile.types.tile_types import PtrType, TileType, integers
from tileas_xdsl.dialects.cuda_tile.types.view_types import TensorViewType
from tileas_xdsl.layout.integers import is_power_of_two

MAX_DIVISOR = 1 << 62
"""The largest divisor that `div_by` takes."""


class AssumePredicate(ParametrizedAttribute):
    """A predicate of `cuda_tile.assume`."""

    @abstractmethod
    def check(self, type_: Attribute) -> None:
        """Raise `VerifyException` if a value of this type cannot have the property."""


@irdl_attr_definition(init=False)
class DivByAttr(DivisibilityAttr, AssumePredicate):
    """`#cuda_tile.div_by<16, every 4 along 1>`: integers or addresses that 16 divides.

    With `every` and `along` this holds for the first of every 4 neighbours along dimension 1, and
    the others count up from it.
    """

    name = "cuda_tile.div_by"

    @classmethod
    def parse_divisor(cls, parser: AttrParser) -> int:
        position = parser.pos
        divisor = parser.parse_optional_integer(allow_boolean=False, allow_negative=False)
        if divisor is None:
            parser.raise_error(message("cuda_tile.div_by.divisor_syntax"), at_position=position)
        return divisor

    def verify(self) -> None:
        if isinstance(self.every, IntAttr) != isinstance(self.along, IntAttr):
            raise _refused("nv_tileaa.assume.every_along_used_combination", self)

    def check(self, type_: Attribute) -> None:
        self._check_numbers()
        if isinstance(type_, TensorViewType):
            self._forbid_every("cuda_tile.div_by.every_tensor_view")
            return
        if not isinstance(type_, TileType):
            raise _refused("cuda_tile.div_by.value", self)
        if type_.rank == 0:
            self._forbid_every("cuda_tile.div_by.every_0d")
        if not isinstance(type_.element_type, (PtrType, IntegerType)):
            raise _refused("cuda_tile.div_by.value", self)
        self._check_every(type_)

    def _check_numbers(self) -> None:
        divisor = self.divisor.data
        if not is_power_of_two(divisor):
            raise _refused("cuda_tile.div_by.power_of_two", self)
        if divisor > MAX_DIVISOR:
            raise _refused("cuda_tile.div_by.too_large", self)

    def _forbid_every(self, key: str) -> None:
        if isinstance(self.every, IntAttr):
            raise _refused(key, self)

    def _check_every(self, tile: TileType) -> None:
        if (group := self.group) is None:
            return
        every, along = group
        if not 0 <= along < tile.rank:
            raise _refused("cuda_tile.div_by.along", self, dim=along, rank=tile.rank)
        extent = tile.get_shape()[along]
        if not 0 <= every <= extent:
            raise _refused("cuda_tile.div_by.every_range", self, extent=extent)


@irdl_attr_definition
class SameElementsAttr(ClausedType, AssumePredicate):
    """`#cuda_tile.same_elements<[2, 4]>`: chunks of 2 by 4 neighbours have one value each."""

    name = "cuda_tile.same_elements"
    values: ArrayAttr[IntAttr]

    def __init__(self, values: Sequence[int] | ArrayAttr[IntAttr]) -> None:
        super().__init__(values if isinstance(values, ArrayAttr) else integers(values))

    CLAUSES = (Clause(INTEGERS),)

    def check(self, type_: Attribute) -> None:
        if not isinstance(type_, TileType):
            raise _refused("cuda_tile.same_elements.value", self)
        if not isinstance(type_.element_type, (PtrType, IntegerType)):
            raise _refused("cuda_tile.same_elements.value", self)
        if len(self.values) != type_.rank:
            raise _refused(
                "cuda_tile.same_elements.count", self, given=len(self.values), expected=type_.rank
            )
        for index, (value, extent) in enumerate(zip(self.values, type_.get_shape(), strict=True)):
            if not 0 <= value.data <= extent:
                raise _refused("cuda_tile.same_elements.range", self, value=index, extent=extent)


@irdl_attr_definition(init=False)
class BoundedAttr(BoundsAttr, AssumePredicate):
    """`#cuda_tile.bounded<0, ?>`: integers, read as signed, between two bounds, both included."""

    name = "cuda_tile.bounded"

    def check(self, type_: Attribute) -> None:
        element = type_.element_type if isinstance(type_, TileType) else type_
        if not (isinstance(type_, TileType) and is_integer(element)):
            raise _refused("cuda_tile.bounded.value", self)
        half = 1 << (element.width.data - 1)
        lower, upper = self.bounds
        if lower is not None and not -half <= lower < half:
            raise _refused("cuda_tile.bounded.lower", self, least=-half, greatest=half - 1)
        if upper is not None and not -half <= upper < half:
            raise _refused("cuda_tile.bounded.upper", self, least=-half, greatest=half - 1)
        if lower is not None and upper is not None and lower > upper:
            raise _refused("cuda_tile.bounded.order", self)


def _refused(key: str, predicate: AssumePredicate, **values: object) -> VerifyException:
    return VerifyException(message(key, predicate=predicate.name, **values))


ATTRIBUTES = (BoundedAttr, DivByAttr, SameElementsAttr)

"""Layouts as attributes: of fragments and loops, and of shared memory."""

from __future__ import annotations

from xdsl.dialects.builtin import AffineMapAttr, IntAttr
from xdsl.ir import Data
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tileas_xdsl.dialects.affine_expressions import is_quasi_affine, number_of_affine
from tileas_xdsl.dialects.clauses import INTEGER, Clause, ClausedType, Form
from tileas_xdsl.dialects.shared_parsing import parse_quoted_layout
from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.expr.expression import Number, symbols_of
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.output.text import parse_layout


def _parse_map(parser: AttrParser) -> AffineMapAttr:
    start = parser.pos
    found = parser.parse_attribute()
    if not isinstance(found, AffineMapAttr):
        parser.raise_error("expected an affine_map", start, parser.pos)
    return found


MAP = Form(_parse_map)


@irdl_attr_definition
class FragmentAttr(ClausedType):
    """`#tl.fragment<affine_map<(d0, d1)[s0] -> (THREAD, SLOT)>, replicas = 2>`.

    The owner thread of each element of a fragment, or of each iteration of a loop, and its slot or
    per-thread iteration.  Symbol 0 is the replica.  Without SLOT it is the row-major index of the
    element among those of its thread.  `layout_of` in `fragments.py` gives the function.
    """

    name = "tl.fragment"

    map: AffineMapAttr
    replicas: IntAttr

    CLAUSES = (Clause(MAP), Clause(INTEGER, "replicas", default=IntAttr(1)))

    def __init__(self, map: AffineMap | AffineMapAttr, replicas: int | IntAttr = 1) -> None:
        super().__init__(
            AffineMapAttr(map) if isinstance(map, AffineMap) else map,
            IntAttr.get(replicas),
        )

    @property
    def thread(self) -> Number:
        """The thread of a copy of an element."""
        return number_of_affine(self.map.data.results[0])

    @property
    def slot(self) -> Number | None:
        """The slot of an element; None where the map gives the thread alone."""
        results = self.map.data.results
        return number_of_affine(results[1]) if len(results) > 1 else None

    def verify(self) -> None:
        map_ = self.map.data
        if len(map_.results) not in (1, 2):
            raise VerifyException(f"gives a thread and perhaps a slot, but {map_} has another form")
        if map_.num_symbols > 1:
            raise VerifyException(f"has one symbol at most, the copy, but {map_} has more")
        if self.replicas.data < 1:
            raise VerifyException(f"has one copy at least, not {self.replicas.data}")
        if not is_quasi_affine(map_):
            raise VerifyException(f"divides by positive constants only, unlike {map_}")
        if self.slot is not None and symbols_of(self.slot):
            raise VerifyException(f"has all copies in one slot, but that of {map_} uses s0")


@irdl_attr_definition
class SharedAttr(Data[AnyLayout]):
    """`#tl.shared<"S<3,4,3> o 0 o (64,64):(128,2)">`: coordinates to byte offsets in a buffer."""

    name = "tl.shared"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AnyLayout:
        return parse_quoted_layout(parser, _plain)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(str(self.data))


def _plain(text: str) -> AnyLayout:
    layout = parse_layout(text)
    if isinstance(layout, MemoryLayout):
        raise LayoutError(f"offsets are in bytes, as 'S<3,4,3> o 0 o SHAPE:STRIDE', not {layout}")
    return layout

"""Entries with their performance directives, variables of shared memory, and names in PTX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import Self

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Block, BlockArgument, Region
from xdsl.irdl import (
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, SymbolOpInterface

from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import PtxOp
from tileas_xdsl.dialects.ptx.structure.control import BraOp, CondBraOp, EndOp
from tileas_xdsl.dialects.ptx.types import ParamType, RegType
from tileas_xdsl.layout.integers import is_power_of_two

DIRECTIVES = (
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnreg",
    "explicitcluster",
    "reqnctapercluster",
    "maxclusterrank",
)
"""Performance directives of an entry, in the order in which they are printed."""

_NAME = re.compile(r"[A-Za-z][\w$]*|[_$][\w$]+", re.ASCII)
"""Identifiers that are no names of registers (PTX ISA 4.4)."""


def is_name(text: str) -> bool:
    """Whether kernels, parameters and variables may be called so."""
    return _NAME.fullmatch(text) is not None


def check_name(op: PtxOp, name: str) -> None:
    """Raise an error about an operation that declares what PTX cannot name."""
    if not is_name(name):
        raise op.error(f"declares what has a name in PTX, and '{name}' is none")


@irdl_op_definition
class EntryOp(PtxOp):
    """A kernel: `.visible .entry`; arguments of its first block are its parameters."""

    name = "ptx.entry"

    sym_name = prop_def(SymbolNameConstraint())
    parameter_names = opt_prop_def(ArrayAttr[StringAttr])
    maxntid = opt_prop_def(DenseArrayBase)
    reqntid = opt_prop_def(DenseArrayBase)
    minnctapersm = opt_prop_def(IntegerAttr)
    maxnreg = opt_prop_def(IntegerAttr)
    explicitcluster = opt_prop_def(UnitAttr)
    reqnctapercluster = opt_prop_def(DenseArrayBase)
    maxclusterrank = opt_prop_def(IntegerAttr)
    body = region_def()

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    def __init__(
        self,
        name: str,
        parameters: Sequence[ParamType] | Region,
        *,
        parameter_names: Sequence[str] | None = None,
        maxntid: Sequence[int] | None = None,
        reqntid: Sequence[int] | None = None,
        minnctapersm: int | None = None,
        maxnreg: int | None = None,
        explicitcluster: bool = False,
        reqnctapercluster: Sequence[int] | None = None,
        maxclusterrank: int | None = None,
    ) -> None:
        """With parameter types the body is one empty block; else it is the region given."""
        body = parameters if isinstance(parameters, Region) else Region(Block(arg_types=parameters))
        names = (
            None if parameter_names is None else ArrayAttr(StringAttr(n) for n in parameter_names)
        )
        self.fill(
            sym_name=name,
            parameter_names=names,
            maxntid=_extents(maxntid),
            reqntid=_extents(reqntid),
            minnctapersm=minnctapersm,
            maxnreg=maxnreg,
            explicitcluster=explicitcluster,
            reqnctapercluster=_extents(reqnctapercluster),
            maxclusterrank=maxclusterrank,
        )
        self.add_region(body)

    @property
    def parameters(self) -> tuple[BlockArgument, ...]:
        """The arguments of the first block."""
        block = self.body.first_block
        return () if block is None else tuple(block.args)

    @property
    def entry_block(self) -> Block:
        """The first block."""
        return self.body.blocks[0]

    def name_of_parameter(self, index: int) -> str:
        """The name that a parameter has in the text."""
        if self.parameter_names is not None:
            return self.parameter_names.data[index].data
        return f"{self.sym_name.data}_param_{index}"

    def check(self) -> None:
        """Names, parameters, directives and the last operations of blocks."""
        check_name(self, self.sym_name.data)
        for index, parameter in enumerate(self.parameters):
            if not isinstance(parameter.type, ParamType):
                raise self.error(f"has parameters in .param space, but {index} is {parameter.type}")
        if self.parameter_names is not None and len(self.parameter_names) != len(self.parameters):
            raise self.error(f"has {len(self.parameters)} parameters, so as many names")
        for name in self.parameter_names or ():
            check_name(self, name.data)
        for name in ("maxntid", "reqntid", "reqnctapercluster"):
            self._check_extents(name)
        if self.maxntid is not None and self.reqntid is not None:
            raise self.error("has either maxntid or reqntid")
        self._check_blocks()

    def _check_extents(self, name: str) -> None:
        extents = self.properties.get(name)
        if not isinstance(extents, DenseArrayBase):
            return
        values = extents.get_values()
        if not 1 <= len(values) <= 3 or any(value < 1 for value in values):
            raise self.error(f"expects 1 to 3 positive extents for {name}, but got {list(values)}")
        limit = 16 if name == "reqnctapercluster" else 1024
        if prod(values) > limit:
            raise self.error(f"allows at most {limit} in {name}, but got {prod(values)}")

    def _check_blocks(self) -> None:
        for block in self.body.blocks:
            last = block.last_op
            if not isinstance(last, BraOp | CondBraOp | EndOp):
                raise self.error(
                    "has blocks that end in ptx.bra, ptx.cond_bra, ptx.ret or ptx.exit"
                )
            if block is not self.body.first_block:
                self._check_arguments(block)
            elif block.predecessors():
                raise self.error("has a first block that nothing branches to")

    def _check_arguments(self, block: Block) -> None:
        for argument in block.args:
            if not isinstance(argument.type, RegType):
                raise self.error(f"passes registers to blocks, but got {argument.type}")

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `@name(%p: type, ...) attributes {...} {blocks}`."""
        name = parser.parse_symbol_name()
        arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
        given = parser.parse_optional_attr_dict_with_keyword(("sym_name",))
        attributes: dict[str, Attribute] = {} if given is None else dict(given.data)
        names = cls.get_irdl_definition().properties
        return cls.create(
            regions=[parser.parse_region(arguments)],
            properties={"sym_name": name, **{k: v for k, v in attributes.items() if k in names}},
            attributes={k: v for k, v in attributes.items() if k not in names},
        )

    def print(self, printer: Printer) -> None:
        """Print what `parse` reads."""
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_string("(")
        printer.print_list(self.parameters, printer.print_block_argument)
        printer.print_string(")")
        printer.print_op_attributes(
            {**self.properties, **self.attributes},
            reserved_attr_names=("sym_name",),
            print_keyword=True,
        )
        printer.print_string(" ")
        printer.print_region(self.body, print_entry_block_args=False)


def _extents(extents: Sequence[int] | None) -> DenseArrayBase | None:
    return None if extents is None else DenseArrayBase.from_list(i32, list(extents))


class SymbolOp(PtxOp):
    """Base of named variables and functions: `ptx.name @symbol {properties}`."""

    sym_name = prop_def(SymbolNameConstraint())

    traits = traits_def(SymbolOpInterface())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `@name {properties}`."""
        name = parser.parse_symbol_name()
        attributes = parser.parse_optional_attr_dict()
        names = cls.get_irdl_definition().properties
        return cls.create(
            properties={"sym_name": name, **{k: v for k, v in attributes.items() if k in names}},
            attributes={k: v for k, v in attributes.items() if k not in names},
        )

    def print(self, printer: Printer) -> None:
        """Print what `parse` reads."""
        printer.print_string(" ")
        printer.print_symbol_name(self.sym_name.data)
        printer.print_op_attributes(
            {**self.properties, **self.attributes}, reserved_attr_names=("sym_name",)
        )


@irdl_op_definition
class SharedOp(SymbolOp):
    """A variable in shared memory: `size` bytes, or what the launch gives (`extern`, size 0)."""

    name = "ptx.shared"

    size = prop_def(IntegerAttr)
    align = prop_def(IntegerAttr)
    extern = opt_prop_def(UnitAttr)

    def __init__(self, name: str, size: int = 0, *, align: int = 16, extern: bool = False) -> None:
        self.fill(sym_name=name, size=size, align=align, extern=extern)

    def check(self) -> None:
        """Name, size and alignment."""
        check_name(self, self.sym_name.data)
        size, align = self.number("size"), self.number("align")
        if not is_power_of_two(align):
            raise self.error(f"has an alignment that is a power of two, not {align}")
        if self.flag("extern") != (size == 0):
            raise self.error(f"has a size, or is extern with size 0, but got {size}")
        if size < 0:
            raise self.error(f"has a positive size, not {size}")

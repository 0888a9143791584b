"""The body of an entry as PTX: names, instructions, labels, and moves between blocks.

A block argument is a register that every branch to the block writes; it shares its name with the
values that may have the same register (`printer_registers`).  What can't share is moved, all
arguments of a branch at once, as a parallel copy (`printer_copies`).
A conditional branch with moves on both
edges is split:

    ptx.cond_bra %p, ^then(%a), ^else(%b)          @!%p0 bra $W1;
                                                   mov.b32 %r7, %r1;    // ^then's argument
                                                   bra $L3;
                                              $W1: mov.b32 %r8, %r2;    // ^else's, which follows

Registers are numbered when they are first named, so that the text has no gaps; a tuple is a run of
numbers, and packing and extracting registers of tuples are only names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.backend.ptx.printer_copies import sequential_moves
from tileas_xdsl.backend.ptx.printer_registers import edges, shared_registers
from tileas_xdsl.backend.ptx.printer_views import FREE, VIEWS
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.dialects.ptx.base import PtxOp, count_of, kind_of, type_of
from tileas_xdsl.dialects.ptx.dot.wgmma import WgmmaOp
from tileas_xdsl.dialects.ptx.elementwise.values import ConstOp, ExtractOp, PackOp, UndefOp
from tileas_xdsl.dialects.ptx.emission import opcode_of
from tileas_xdsl.dialects.ptx.structure.control import CondBraOp
from tileas_xdsl.dialects.ptx.structure.entries import EntryOp
from tileas_xdsl.dialects.ptx.types import RegType
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.isa.kinds import KINDS
from tileas_xdsl.target.isa.legality import targets_of, unknown
from tileas_xdsl.target.isa.table import TABLE

_PREFIXES = {kind: f"%{entry.prefix}" for kind, entry in KINDS.items()}

_NAMES: dict[str, list[str]] = {kind: [] for kind in KINDS}
"""The names of registers by kind, `%f0`, `%f1`, ..., as far as an entry has had so many."""

Moves = list[tuple[str, str, str]]
"""The instruction, the destination and the source."""


class EntryWriter:
    """Writes one entry; it is the `Writer` that operations write to."""

    def __init__(
        self, entry: EntryOp, target: Target, files: dict[str, int], *, locations: bool
    ) -> None:
        self._target = target
        self.version = target.ptx_version
        """The lowest one that what was written needs."""
        self._blocks = tuple(entry.body.blocks)
        self._files = files
        self._locations = locations
        self._location: LocationAttr | None = None
        self._lines: list[str] = []
        self._counts = dict.fromkeys(KINDS, 0)
        self._labels = 0
        self._ptx: set[type] = set()
        self._opcodes: set[str] = set()
        """Those that the target is known to have."""
        self._op: Operation = entry
        self._leaders = shared_registers(self._blocks)
        self._names: dict[SSAValue, Sequence[str]] = {
            parameter: (entry.name_of_parameter(index),)
            for index, parameter in enumerate(entry.parameters)
        }
        self._targets = {target: f"$L{index}" for index, target in enumerate(self._blocks)}
        self._jumps: set[str] = set()

    # What operations use.

    def names(self, value: SSAValue) -> Sequence[str]:
        """The registers of a value; those of a constant are its literal."""
        found = self._names.get(value)
        if found is None:
            found = self._names[value] = self._new_names(value)
        return found

    def name(self, value: SSAValue) -> str:
        """The only register of a value, or a literal."""
        return (self._names.get(value) or self.names(value))[0]

    def registers(self, value: SSAValue) -> Sequence[str]:
        """As `names`, with literals moved to registers first."""
        names = self.names(value)
        if all(name[0] == "%" for name in names):
            return names
        kind = kind_of(value)
        return [name if name[0] == "%" else self._moved(kind, name) for name in names]

    def register(self, value: SSAValue) -> str:
        """As `name`, with a literal moved to a register first."""
        name = self.name(value)
        return name if name[0] == "%" else self._moved(kind_of(value), name)

    def line(self, text: str) -> None:
        """One instruction, without its semicolon."""
        opcode = text.split(" ", 1)[0]
        if opcode[0] == "@":
            opcode = opcode_of(text)
        if opcode not in self._opcodes and opcode[0] not in ".{}":
            self._require(opcode)
        self._lines.append(f"    {text};")

    def fresh(self, kind: str) -> str:
        """A register of `kind` that nothing else uses."""
        index = self._counts[kind]
        self._counts[kind] = index + 1
        return f"{_PREFIXES[kind]}{index}"

    def label(self) -> str:
        """Return a label that is unique in the entry."""
        self._labels += 1
        return f"$W{self._labels}"

    def put_label(self, label: str) -> None:
        """Put a label here."""
        self._lines.append(f"{label}:")

    # What the entry is made of.

    def write(self) -> list[str]:
        """The lines between the braces of the entry."""
        for index, block in enumerate(self._blocks):
            following = self._blocks[index + 1] if index + 1 < len(self._blocks) else None
            self._write_block(block, following)
        unused = {f"{label}:" for label in self._targets.values() if label not in self._jumps}
        return [*self._declarations(), *(line for line in self._lines if line not in unused)]

    def _write_block(self, block: Block, following: Block | None) -> None:
        self.put_label(self._targets[block])
        for op in block.ops:
            if op.__class__ in FREE:
                continue
            op = self._checked(op)
            if self._locations and op.location is not self._location:
                self._write_location(op.location)
            if op.IN_PLACE:
                self._write_in_place(op)
            else:
                op.emit(self)
        self._write_end(block, following)

    def _checked(self, op: Operation) -> PtxOp:
        """Return the operation if it is of `ptx`; what is written now is its own."""
        if op.__class__ not in self._ptx:
            if not isinstance(op, PtxOp):
                raise op_error(op, "has no text in PTX")
            self._ptx.add(op.__class__)
        op = cast(PtxOp, op)
        self._op = op
        return op

    def _require(self, opcode: str) -> None:
        """Count the version that an opcode needs; `OpError` if the target does not have it."""
        self._opcodes.add(opcode)
        needs = [form.requirement for form in TABLE.find(opcode)]
        if not needs:
            raise op_error(self._op, f"is no instruction: {unknown(opcode)}")
        met = [need for need in needs if need.met_by(self._target)]
        if not met:
            known = targets_of(needs[0])
            raise op_error(self._op, f"is not in {self._target.name}: this form needs {known}")
        self.version = max(self.version, min(need.version for need in met))

    def _write_location(self, location: LocationAttr) -> None:
        self._location = location
        found = file_location(location)
        if found is None:
            return
        number = self._files.setdefault(found.file, len(self._files) + 1)
        self._lines.append(f"    .loc {number} {found.line} {found.column}")

    def _write_in_place(self, op: PtxOp) -> None:
        """Move what could not get the same registers: products before, waits after."""
        moves: Moves = []
        for operand, result in op.in_place():
            moves += self._copies([op.operands[operand]], [op.results[result]])
        if isinstance(op, WgmmaOp):
            self._write_moves(moves)
        op.emit(self)
        if not isinstance(op, WgmmaOp):
            self._write_moves(moves)

    # Between blocks.

    def _write_end(self, block: Block, following: Block | None) -> None:
        last = block.last_op
        if isinstance(last, CondBraOp):
            self._write_conditional(last, following)
            return
        for target, values in edges(last):
            self._write_moves(self._copies(values, target.args))
            if target is not following:
                self.line(f"bra {self._jump_to(target)}")

    def _jump_to(self, target: Block) -> str:
        """Return the label of a block, marked as a jump target."""
        label = self._targets[target]
        self._jumps.add(label)
        return label

    def _write_conditional(self, op: CondBraOp, following: Block | None) -> None:
        then, other = op.then_target, op.else_target
        then_moves = self._copies(op.then_arguments, then.args)
        else_moves = self._copies(op.else_arguments, other.args)
        condition, uniform = self.register(op.condition), ".uni" * op.flag("uniform")
        negated = f"!{condition}"
        if not then_moves and (else_moves or then is not following):
            self.line(f"@{condition} bra{uniform} {self._jump_to(then)}")
            self._write_jump(else_moves, other, following)
        elif not else_moves:
            self.line(f"@{negated} bra{uniform} {self._jump_to(other)}")
            self._write_jump(then_moves, then, following)
        else:
            split = self.label()
            self.line(f"@{negated} bra{uniform} {split}")
            self._write_jump(then_moves, then, None)
            self.put_label(split)
            self._write_jump(else_moves, other, following)

    def _write_jump(self, moves: Moves, target: Block, following: Block | None) -> None:
        self._write_moves(moves)
        if target is not following:
            self.line(f"bra {self._jump_to(target)}")

    def _write_moves(self, moves: Moves) -> None:
        self._lines += [f"    {head} {to}, {source};" for head, to, source in moves]

    def _copies(self, sources: Sequence[SSAValue], results: Sequence[SSAValue]) -> Moves:
        """The moves that give `results` the registers of `sources`, all at once."""
        by_kind: dict[str, list[tuple[str, str]]] = {}
        for source, result in zip(sources, results, strict=True):
            if result.first_use is None:
                continue
            copies = by_kind.setdefault(kind_of(result), [])
            copies += self._defined_copies(source, result)
        return [
            (f"mov.{kind}", *move)
            for kind, copies in by_kind.items()
            for move in sequential_moves(copies, lambda kind=kind: self.fresh(kind))
        ]

    def _defined_copies(self, source: SSAValue, result: SSAValue) -> Iterator[tuple[str, str]]:
        """Destinations and sources, without registers that hold nothing."""
        if isinstance(source.owner, UndefOp):
            return
        yield from zip(self.names(result), self.names(source), strict=True)

    # Names.

    def _new_names(self, value: SSAValue) -> Sequence[str]:
        leader = self._leaders.get(value)
        if leader is not None:
            return self.names(leader)
        op = value.owner
        if op.__class__ in VIEWS:
            return self._parts(value)
        if isinstance(op, ConstOp):
            return (op.literal(),) * count_of(value)
        return self._fresh_names(type_of(value))

    def _parts(self, value: SSAValue) -> Sequence[str]:
        """The names of a value that is made of registers of others."""
        op, count = value.owner, count_of(value)
        assert isinstance(op, Operation)
        if isinstance(op, PackOp):
            return [name for part in op.operands for name in self.names(part)]
        start = op.number("start") if isinstance(op, ExtractOp) else op.results.index(value) * count
        return self.names(op.operands[0])[start : start + count]

    def _fresh_names(self, type: RegType) -> Sequence[str]:
        kind, count = type.kind.data, type.count.data
        start = self._counts[kind]
        self._counts[kind] = start + count
        return _register_names(kind, start + count)[start : start + count]

    def _moved(self, kind: str, literal: str) -> str:
        name = self.fresh(kind)
        self.line(f"mov.{kind} {name}, {literal}")
        return name

    def _declarations(self) -> Iterator[str]:
        for kind, count in self._counts.items():
            if count:
                yield f"    .reg .{kind} {_PREFIXES[kind]}<{count}>;"


def _register_names(kind: str, count: int) -> list[str]:
    """Return the names of the first registers of a kind, `count` of them or more."""
    names = _NAMES[kind]
    if len(names) < count:
        more = range(len(names), max(count, 2 * len(names)))
        names = _NAMES[kind] = [*names, *(f"{_PREFIXES[kind]}{index}" for index in more)]
    return names

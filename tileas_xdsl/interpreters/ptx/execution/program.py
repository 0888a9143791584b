"""A kernel made ready to run: every instruction a function, every operand a slot."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tileas_xdsl.interpreters.ptx.errors import Place, PtxError
from tileas_xdsl.interpreters.ptx.execution.predication import (
    after_loads,
    guarded,
    moved_lazily,
    touching,
)
from tileas_xdsl.interpreters.ptx.execution.register_slots import RegisterFile
from tileas_xdsl.interpreters.ptx.execution.state import Fragment
from tileas_xdsl.interpreters.ptx.instructions import find_form
from tileas_xdsl.interpreters.ptx.instructions.base import SPECIFIC, Form, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.control import end
from tileas_xdsl.interpreters.ptx.memory.variable_addresses import Variables
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, Kernel, PtxModule, Register

_TARGET = re.compile(r"sm_(\d+)([af]?)$")

MATRIX_OWNERS = ("wgmma.mma_async", "wgmma.wait_group", "wgmma.fence", "wgmma.commit_group")
"""Instructions that know what a held register is."""


class Program:
    """The steps of a kernel; `variables` says where its names are."""

    def __init__(
        self, module: PtxModule, kernel: Kernel, variables: Variables, target: str
    ) -> None:
        self.module = module
        self.kernel = kernel
        self.variables = variables
        self.target = target
        self.code: Sequence[Instruction] = kernel.code
        self.slots = RegisterFile(variables.address)
        self.carry_slot = self.slots.register(Register("carry flag", TYPES["pred"]))
        self.watched: set[int] = set()
        """Registers of matrix instructions."""
        self._held: set[int] = set()
        self._loaded: set[int] = set()
        self._forms: list[Form] = []
        self._sites: list[Site] = []
        steps = [self._build(i, at) for at, i in enumerate(kernel.code)]
        self._follow_moves()
        self.steps: list[Step] = [self._wrap(at, step) for at, step in enumerate(steps)]
        self.steps.append(self._end)

    @staticmethod
    def _end(f: Fragment) -> int | None:
        return end(f)

    def shared_name(self, offset: int) -> str:
        """An offset of shared memory by the variable that holds it."""
        return self.variables.shared_name(offset)

    def parameter_bytes(self, name: str, offset: int, size: int, place: Place) -> bytes:
        """Bytes of a parameter."""
        return self.variables.parameter_bytes(name, offset, size, place)

    def watch(self, home: Sequence[int], operands: Sequence[int]) -> None:
        """Registers that hold accumulators, and those that matrix instructions read."""
        self._held.update(home)
        self.watched.update(home)
        self.watched.update(operands)

    def watch_loads(self, registers: Sequence[int]) -> None:
        """Registers that `tcgen05.ld` fills some time before `tcgen05.wait::ld`."""
        self._loaded.update(registers)

    def _build(self, instruction: Instruction, at: int) -> Step:
        form = find_form(instruction.parts)
        if form is None:
            raise PtxError(
                f"instruction '{instruction.opcode}' is not supported", instruction.place
            )
        self._check_target(form, instruction)
        site = Site(instruction, at, self, form)
        step = form.build(site)
        self._forms.append(form)
        self._sites.append(site)
        return step

    def _check_target(self, form: Form, instruction: Instruction) -> None:
        version = self.module.version
        if version < form.ptx:
            raise PtxError(
                f"{form.name} needs .version {form.ptx[0]}.{form.ptx[1]}; the module has "
                f"{version[0]}.{version[1]}",
                instruction.place,
            )
        found = _TARGET.match(self.target)
        number, suffix = (int(found[1]), found[2]) if found else (0, "")
        if form.only and (not suffix or number not in SPECIFIC[form.only]):
            raise PtxError(
                f"{form.name} is for {form.only}; the target is {self.target}", instruction.place
            )
        if number < form.since:
            raise PtxError(
                f"{form.name} needs sm_{form.since}; the target is {self.target}",
                instruction.place,
            )

    def _follow_moves(self) -> None:
        """Registers that plain moves copy accumulators to hold them too."""
        if not self._held:
            return
        moves = [
            (site.read[0], site.written[0])
            for site, i in zip(self._sites, self.code, strict=True)
            if _is_plain_move(site, i)
        ]
        before = -1
        while before != len(self._held):
            before = len(self._held)
            self._held.update(target for source, target in moves if source in self._held)
        self.watched |= self._held

    def _wrap(self, at: int, step: Step) -> Step:
        form, site, instruction = self._forms[at], self._sites[at], self.code[at]
        if form.name == "bra":
            return step
        if self.watched and form.name not in MATRIX_OWNERS:
            reads = self.watched & set(site.read)
            writes = self.watched & set(site.written)
            if _is_plain_move(site, instruction) and reads and writes:
                step = moved_lazily(site.read[0], site.written[0], step)
            elif reads or writes:
                step = touching(step, sorted(reads & self._held), sorted(writes))
        loaded = self._loaded & {*site.read, *site.written}
        if loaded:
            step = after_loads(step, frozenset(loaded))
        guard = instruction.guard
        if guard is None:
            return step
        slot = self.slots.register(guard.predicate)
        widths: Mapping[int, int] = {w: self.slots.widths[w] for w in dict.fromkeys(site.written)}
        return guarded(step, slot, guard.negated, widths, splits=form.waits)


def _is_plain_move(site: Site, instruction: Instruction) -> bool:
    """Whether an instruction only copies one 32-bit register to another."""
    return (
        site.name == "mov"
        and instruction.guard is None
        and len(site.read) == 1
        and len(site.written) == 1
        and all(isinstance(o, Register) for o in instruction.operands)
    )

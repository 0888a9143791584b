"""A kernel compiled to closures: one step per instruction, one register slot per operand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from tileas_xdsl.interpreters.ptx.errors import PtxError, SourceLocation
from tileas_xdsl.interpreters.ptx.execution.partly_undefined import (
    Selection,
    Tracked,
    partly_undefined,
    with_definedness,
    with_selected_definedness,
)
from tileas_xdsl.interpreters.ptx.execution.predication import (
    predicated,
    rename_accumulator,
    with_matrix_registers,
    with_tmem_load_check,
)
from tileas_xdsl.interpreters.ptx.execution.register_slots import RegisterSlots
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.undefined_registers import (
    passes_on,
    undefined_reads,
    with_undefined_registers,
)
from tileas_xdsl.interpreters.ptx.instructions import find_semantics
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.control import end
from tileas_xdsl.interpreters.ptx.instructions.not_emulated import why_not
from tileas_xdsl.interpreters.ptx.memory.variable_addresses import Variables
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, Kernel, PtxModule, Register
from tileas_xdsl.target.arch import Platform, platform_of
from tileas_xdsl.target.isa.legality import refusal

MATRIX_OWNERS = ("wgmma.mma_async", "wgmma.wait_group", "wgmma.fence", "wgmma.commit_group")
"""Instructions that handle lazy accumulator registers themselves."""

_refusal = lru_cache(maxsize=8192)(refusal)
"""The same opcodes come again within a kernel and with every launch."""


class Program:
    """The steps of a kernel; `variables` resolves its names to addresses."""

    def __init__(
        self, module: PtxModule, kernel: Kernel, variables: Variables, target: str
    ) -> None:
        self.module = module
        self.kernel = kernel
        self.variables = variables
        self.target = target
        self._platform = platform_of(target) or Platform(target, 0)
        self.code: Sequence[Instruction] = kernel.code
        self.slots = RegisterSlots(variables.address)
        self.carry_slot = self.slots.register(Register("carry flag", TYPES["pred"]))
        self.watched: set[int] = set()
        """Slots that matrix instructions read or write."""
        self._held: set[int] = set()
        self._loaded: set[int] = set()
        self._cta_group = 0
        self._semantics: list[Semantics] = []
        self._sites: list[Site] = []
        steps = [self.decode(i, at) for at, i in enumerate(kernel.code)]
        self._follow_moves()
        for site, instruction in zip(self._sites, kernel.code, strict=True):
            if instruction.guard is not None:
                site.read.append(self.slots.register(instruction.guard.predicate))
        self._undefined = undefined_reads(kernel, self._sites)
        self._track_definedness()
        self.steps: list[Step] = [self._wrap(at, step) for at, step in enumerate(steps)]
        self.steps.append(self._end)

    @staticmethod
    def _end(f: ConvergenceGroup) -> int | None:
        return end(f)

    @property
    def labels(self) -> Mapping[str, int]:
        """The instruction after each label."""
        return self.kernel.labels

    @property
    def widths(self) -> Sequence[int]:
        """The width of each register slot in bits."""
        return self.slots.widths

    def shared_name(self, offset: int) -> str:
        """Return an offset of shared memory as a variable and an offset in it."""
        return self.variables.shared_name(offset)

    def parameter_bytes(self, name: str, offset: int, size: int, location: SourceLocation) -> bytes:
        """Return bytes of a parameter."""
        return self.variables.parameter_bytes(name, offset, size, location)

    def watch(self, d_registers: Sequence[int], operands: Sequence[int]) -> None:
        """Register the slots of an accumulator and those of operands in registers."""
        self._held.update(d_registers)
        self.watched.update(d_registers)
        self.watched.update(operands)

    def watch_loads(self, registers: Sequence[int]) -> None:
        """Register slots that `tcgen05.ld` writes asynchronously."""
        self._loaded.update(registers)

    def cta_group(self, group: int) -> int:
        """Return the `.cta_group` of the first tcgen05 instruction, this one if it is the first."""
        self._cta_group = self._cta_group or group
        return self._cta_group

    def decode(self, instruction: Instruction, at: int) -> Step:
        """Return the step of an instruction; `PtxError` if the target does not have it."""
        semantics, why = find_semantics(instruction.parts), why_not(instruction.parts)
        if semantics is None or why is not None:
            text = f"instruction '{instruction.opcode}' is not supported"
            raise PtxError(f"{text}: {why}" if why else text, instruction.location)
        why = _refusal(
            instruction.opcode, len(instruction.operands), self._platform, self.module.version
        )
        if why is not None:
            raise PtxError(why, instruction.location)
        site = Site(instruction, at, self, semantics)
        step = semantics.build(site)
        self._semantics.append(semantics)
        self._sites.append(site)
        return step

    def _follow_moves(self) -> None:
        """Propagate "may hold an accumulator" along plain moves to a fixed point."""
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

    def _track_definedness(self) -> None:
        """Add a predicate for each register that may be undefined where it is read."""
        never = {slot for slots in self._undefined.values() for slot in slots}
        ignored = {*never, *self.watched, *self._loaded, self.carry_slot}
        self._tracked = partly_undefined(self.kernel, self._sites, self._semantics, ignored)
        slots = {s for t in self._tracked.values() for s in (*t.sources, *t.written)}
        self._names = {slot: self.slots.name_of(slot) for slot in slots}
        self._defined = {
            slot: self.slots.register(Register(f"defined {name}", TYPES["pred"]))
            for slot, name in self._names.items()
        }

    def _wrap(self, at: int, step: Step) -> Step:
        semantics, site, instruction = self._semantics[at], self._sites[at], self.code[at]
        if semantics.name == "bra":
            step = self._with_definedness(at, step)
            return self._with_undefined(at, step, of_guard=True)
        if self.watched and semantics.name not in MATRIX_OWNERS:
            reads = self.watched & set(site.read)
            writes = self.watched & set(site.written)
            if _is_plain_move(site, instruction) and reads and writes:
                step = rename_accumulator(site.read[0], site.written[0], step)
            elif reads or writes:
                step = with_matrix_registers(step, sorted(reads & self._held), sorted(writes))
        loaded = self._loaded & {*site.read, *site.written}
        if loaded:
            step = with_tmem_load_check(step, frozenset(loaded))
        step = self._with_undefined(at, step, of_guard=False)
        step = self._with_definedness(at, step)
        guard = instruction.guard
        if guard is None:
            return step
        slot = self.slots.register(guard.predicate)
        written = dict.fromkeys(site.written)
        written |= dict.fromkeys(self._defined[w] for w in site.written if w in self._defined)
        widths: Mapping[int, int] = {w: self.slots.widths[w] for w in written}
        step = predicated(step, slot, guard.negated, widths, splits=semantics.waits)
        return self._with_undefined(at, step, of_guard=True)

    def _with_definedness(self, at: int, step: Step) -> Step:
        tracked = self._tracked.get(at)
        if tracked is None:
            return step
        selection = self._selection(at, tracked)
        if selection is not None:
            return with_selected_definedness(step, selection)
        return with_definedness(step, tracked, self._defined, self._names)

    def _selection(self, at: int, tracked: Tracked) -> Selection | None:
        """Return what a `selp` with a tracked result selects."""
        if self._semantics[at].name != "selp" or not tracked.written:
            return None
        operands = self.code[at].operands[1:]
        slots = [self.slots.register(o) if isinstance(o, Register) else None for o in operands]
        if len(slots) != 3 or slots[2] is None:
            return None
        first, second, of_predicate = (None if s is None else self._defined.get(s) for s in slots)
        return Selection(slots[2], (first, second, of_predicate), self._defined[tracked.written[0]])

    def _with_undefined(self, at: int, step: Step, *, of_guard: bool) -> Step:
        """Return a step that reports registers that nothing has written before it: its guard, or
        its operands, which matter only where it executes."""
        missing = {*self._undefined.get(at, ())} - {self.carry_slot}
        guard = self.code[at].guard
        slot = None if guard is None else self.slots.register(guard.predicate)
        missing = missing & {slot} if of_guard else missing - {slot}
        if self._semantics[at].name.startswith("wgmma"):
            missing -= self._held
        if not missing:
            return step
        names = sorted(self.slots.name_of(slot) for slot in missing)
        only_passed = not of_guard and passes_on(self.code[at], names)
        return with_undefined_registers(step, names, only_passed=only_passed)


def _is_plain_move(site: Site, instruction: Instruction) -> bool:
    """Return whether an instruction only copies one register to another."""
    return (
        site.name == "mov"
        and instruction.guard is None
        and len(site.read) == 1
        and len(site.written) == 1
        and all(isinstance(o, Register) for o in instruction.operands)
    )

"""Instruction forms: rows of the table, written as the PTX ISA writes them.

    form("add{.rounding}{.ftz}{.sat}.f32", "d, a, b", rounding=ROUNDINGS)

is `add.f32`, `add.rn.f32`, `add.rz.ftz.sat.f32`, ... .  A part in braces may be missing.  A part
named among the choices (`rounding`) is one of their words; any other part is a literal, and `a|b`
one of several.  A word may have dots of its own (`xorsign.abs`).

Operands are written by what they are:

    d, a:u32        a register of the type of the instruction, or of the type given
    p:pred          a predicate;    d|p:pred    two results
    [a]             an address;     a:from      of the type that the slot `from` has
    <d:b32*4>       a vector; its length may be the number in the word of a slot (`repeat*2`,
                    `shape.n/4` for the one after the letter n)
    [s]             an address of 32 bits, in shared or tensor memory;  [t <c:s32*2>]  a tensor
    0               an integer literal
    ...             any operands
    x?mod           only where the part or slot `mod` is there;    x?  may be missing
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, cached_property
from itertools import product, takewhile

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.isa.requirements import ANYWHERE, Requirement

Words = Mapping[str, str]
"""The keyword of each slot of an opcode; a slot may be missing or have an empty keyword."""


MAX_OPERANDS = 256

_FIRST_PART = re.compile(r"[.{]")


@dataclass(frozen=True, slots=True)
class Slot:
    """One part of an opcode, with its allowed keywords."""

    name: str
    words: tuple[str, ...]
    optional: bool = False

    @property
    def is_name(self) -> bool:
        """Whether it is a literal part, neither a choice nor optional."""
        return self.words == (self.name,) and not self.optional

    @property
    def is_literal(self) -> bool:
        """Whether the slot always has the same keyword."""
        return len(self.words) == 1 and not self.optional


@dataclass(frozen=True, eq=False)
class InstructionForm:
    """One row: every opcode that its slots spell, its operands, and what it needs."""

    syntax: str
    choices: Mapping[str, Sequence[str]]
    operands: str
    requirement: Requirement = ANYWHERE

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """The parts of an opcode; a process asks few of the 1,700 rows for theirs."""
        return tuple(_slots(self.syntax, self.choices))

    @property
    def mnemonic(self) -> str:
        """The first part, which has no choice."""
        return _FIRST_PART.split(self.syntax, 1)[0]

    @cached_property
    def lead(self) -> tuple[str, ...]:
        """The literal parts that it begins with."""
        return tuple(slot.name for slot in takewhile(lambda slot: slot.is_name, self.slots))

    @cached_property
    def name(self) -> str:
        """The opcode without modifiers in one text: `mbarrier.arrive`."""
        return ".".join(self.lead)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """Every part that an opcode of this form may have."""
        return frozenset(p for slot in self.slots for word in slot.words for p in word.split("."))

    def match(self, parts: Sequence[str]) -> Words | None:
        """Return the keywords of the slots if the opcode matches this form, else None.

        The parts of its name come first; the modifiers after them may be in any order, as ptxas
        accepts them, as long as those of one vocabulary (types, spaces) keep theirs.
        """
        length = len(self.lead)
        if tuple(parts[:length]) != self.lead or not self.vocabulary.issuperset(parts):
            return None
        found = _match(self.slots[length:], list(parts[length:]))
        return None if found is None else {**{part: part for part in self.lead}, **found}

    def allowed(self, name: str) -> tuple[str, ...]:
        """Return the keywords of the slot `name`, with an empty one if it is optional."""
        found = [slot for slot in self.slots if slot.name == name]
        if not found:
            return ("",)
        return ("", *found[0].words) if found[0].optional else found[0].words

    def spell(self, words: Words) -> str:
        """Return the opcode with these keywords."""
        return ".".join(
            word
            for slot in self.slots
            if (word := slot.words[0] if slot.is_literal else words.get(slot.name, ""))
        )

    def operand_counts(self, words: Words) -> tuple[int, int]:
        """Return how many operands there are at least and at most."""
        if self.operands == "...":
            return 0, MAX_OPERANDS
        shown = [text.partition("?")[1:] for text in split_operands(self.operands)]
        required = sum(not mark or bool(words.get(slot)) for mark, slot in shown)
        return required, required + sum(mark == "?" and not slot for mark, slot in shown)

    def opcodes(self) -> Iterator[Words]:
        """Yield the keywords of every opcode of this form."""
        choices = [("", *slot.words) if slot.optional else slot.words for slot in self.slots]
        for words in product(*choices):
            yield {slot.name: word for slot, word in zip(self.slots, words, strict=True)}


@cache
def split_operands(text: str) -> tuple[str, ...]:
    """Return the operands of a row, cut at the commas outside of brackets."""
    return tuple(part for part in re.split(r",\s*(?![^\[<]*[\]>])", text) if part)


def _match(slots: Sequence[Slot], parts: list[str]) -> dict[str, str] | None:
    """Match slots with parts: each slot takes the first part that is one of its keywords."""
    if not slots:
        return None if parts else {}
    slot, rest = slots[0], slots[1:]
    for word in slot.words:
        size = word.count(".") + 1
        for at in range(len(parts) - size + 1):
            if parts[at] == word or (size > 1 and ".".join(parts[at : at + size]) == word):
                found = _match(rest, parts[:at] + parts[at + size :])
                if found is not None:
                    return {slot.name: word, **found}
                break
    return _match(rest, parts) if slot.optional else None


def form(
    syntax: str, operands: str = "", needs: Requirement = ANYWHERE, **choices: Sequence[str]
) -> InstructionForm:
    """Return the row that `syntax` describes (see above)."""
    return InstructionForm(syntax, choices, operands, needs)


def _slots(syntax: str, choices: Mapping[str, Sequence[str]]) -> Iterator[Slot]:
    for text in re.findall(r"\{[^}]*\}|[^.{}]+", syntax):
        optional = text[0] == "{"
        name = text.strip("{}").removeprefix(".")
        words = tuple(choices[name]) if name in choices else tuple(name.split("|"))
        yield _slot(name, words, optional)


@cache
def _slot(name: str, words: tuple[str, ...], optional: bool) -> Slot:
    """The rows of the table have 8,300 slots, of which 1,100 differ: an import makes those."""
    return Slot(name, words, optional)


class Table:
    """The forms of all instructions, found by an opcode."""

    def __init__(self, forms: Sequence[InstructionForm]) -> None:
        self.forms = tuple(forms)
        self._by_mnemonic: dict[str, list[InstructionForm]] = {}
        for row in forms:
            self._by_mnemonic.setdefault(row.mnemonic, []).append(row)
        self._found: dict[str, Sequence[InstructionForm]] = {}

    def find(self, opcode: str) -> Sequence[InstructionForm]:
        """Return the forms that an opcode is of, the least demanding first."""
        if opcode not in self._found:
            self._found[opcode] = self._matches(opcode.split("."))
        return self._found[opcode]

    def _matches(self, parts: Sequence[str]) -> Sequence[InstructionForm]:
        found = [row for row in self.rows(parts[0]) if row.match(parts) is not None]
        return sorted(found, key=lambda row: (row.requirement.version, row.requirement.capability))

    def rows(self, mnemonic: str) -> Sequence[InstructionForm]:
        """Return the forms of a mnemonic."""
        return self._by_mnemonic.get(mnemonic, ())

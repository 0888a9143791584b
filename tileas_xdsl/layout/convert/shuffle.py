"""Plans inside a warp: rounds of `shfl.sync.idx.b32`.

In a round every lane names a lane to read; all lanes contribute the same operand of the
instruction.  A lane that must contribute another register than its neighbours selects it first, and
selects again where the received word belongs: these selects are counted.  Source: PTX ISA,
shfl.sync.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tileas_xdsl.layout.access import WARP, Ints
from tileas_xdsl.layout.convert.assembly import assembly_cost
from tileas_xdsl.layout.convert.origins import Origins
from tileas_xdsl.layout.convert.plan import (
    Cost,
    Kind,
    Plan,
    Registers,
    Weights,
    counted,
    per_word,
    warps_of,
    words_of,
)
from tileas_xdsl.layout.convert.rounds import Delivery, Rounds, schedules
from tileas_xdsl.layout.fragment import Fragment


class Move(NamedTuple):
    """What one lane does in one round."""

    thread: int
    source_thread: int
    """The thread that it reads."""
    source_registers: tuple[int, ...]
    """The registers of that thread which the word it reads is packed from, lowest bits first."""
    target_registers: tuple[int, ...]
    """Its own registers that are filled from the word."""


@dataclass(frozen=True, eq=False)
class ShufflePlan(Plan):
    """An explicit schedule of shuffles."""

    source_thread: Ints
    """`(rounds, threads)`: the thread whose word each thread reads; itself when it needs none."""
    offered: Ints
    """`(rounds, threads, per word)`: the registers that each thread packs and contributes."""
    assembly: Ints
    """`(threads, values)`: where each target register comes from: below `offset` a register of the
    source, else place `(assembly - offset) % per_word` of the word of round
    `(assembly - offset) // per_word`; -1 for none."""
    lower_bound: int
    """No schedule has fewer rounds: words that some lane must send or receive at least."""

    @property
    def kind(self) -> Kind:
        """`shuffle`."""
        return "shuffle"

    @property
    def rounds(self) -> int:
        """How many words each lane receives at most."""
        return len(self.source_thread)

    @property
    def offset(self) -> int:
        """The place in the register file where received words begin."""
        return _file_offset(self.source.values, self.elem_bits)

    def _moved(self, registers: Registers) -> Registers:
        threads, values = self.source.threads, self.source.values
        file = np.zeros((threads, self.offset), dtype=registers.dtype)
        file[:, :values] = registers
        received: list[Registers] = [file]
        own = np.arange(threads)[:, None]
        for reads, packed in zip(self.source_thread, self.offered, strict=True):
            words = np.where(packed < 0, 0, registers[own, np.maximum(packed, 0)])
            received.append(words[reads])
        return np.concatenate(received, axis=1)[own, np.maximum(self.assembly, 0)]

    def moves(self, round_: int) -> Iterator[Move]:
        """What the lanes that receive something do in one round."""
        per = self.offered.shape[2]
        first = self.offset + round_ * per
        for thread, sender in enumerate(self.source_thread[round_].tolist()):
            row = self.assembly[thread]
            filled = np.flatnonzero((row >= first) & (row < first + per))
            if filled.size:
                packed = tuple(r for r in self.offered[round_, sender].tolist() if r >= 0)
                yield Move(thread, sender, packed, tuple(filled.tolist()))

    def explain(self) -> str:
        """The plan and its cost in one sentence."""
        least = "the least possible" if self.rounds == self.lower_bound else "at least"
        bound = least if self.rounds == self.lower_bound else f"{least} {self.lower_bound}"
        return (
            f"warp shuffles: {counted(self.rounds, 'round')} of shfl.sync.idx ({bound}), "
            f"{counted(self.cost.alu, 'select or byte permute')} a thread, "
            f"about {self.cost.cycles:g} cycles"
        )


def _file_offset(values: int, elem_bits: int) -> int:
    per = per_word(elem_bits)
    return -(-values // per) * per


def lower_bound(origins: Origins, elem_bits: int) -> int:
    """Rounds that any schedule needs for these origins.

    A round brings a lane one word of one other lane and takes one word from it; a word holds
    `per_word` elements.
    """
    reader, _ = np.nonzero(~origins.empty)
    sender, register = origins.thread[~origins.empty], origins.register[~origins.empty]
    away = sender != reader
    if not away.any():
        return 0
    per = per_word(elem_bits)
    wanted = np.unique(np.stack([reader[away], sender[away], register[away]]), axis=1)
    pairs, elements = np.unique(wanted[:2], axis=1, return_counts=True)
    received = np.bincount(pairs[0], weights=-(-elements // per))
    sent = np.bincount(np.unique(wanted[1:], axis=1)[0])
    return max(int(received.max()), -(-int(sent.max()) // per))


class _Letter(NamedTuple):
    """A delivery and the registers that travel in it."""

    delivery: Delivery
    registers: tuple[int, ...]


def plan_shuffles(
    source: Fragment, target: Fragment, elem_bits: int, origins: Origins, weights: Weights
) -> ShufflePlan:
    """The cheapest schedule found for origins in the same warp."""
    bound = lower_bound(origins, elem_bits)
    plans = (
        _assembled(source, target, elem_bits, origins, weights, letters, rounds, bound)
        for letters in _ways_to_pack(origins, elem_bits)
        for rounds in _block_schedules(letters)
    )
    return min(plans, key=lambda plan: plan.cost.cycles)


def _ways_to_pack(origins: Origins, elem_bits: int) -> Iterator[list[list[_Letter]]]:
    """For each warp what must be delivered: whole source words, or words packed for a reader."""
    warps = [slice(w, w + WARP) for w in range(0, len(origins.thread), WARP)]
    per = per_word(elem_bits)
    yield [_whole_words(origins.thread[w], origins.register[w], w.start, per) for w in warps]
    if per == 1:
        return
    numbers: dict[tuple[int, ...], int] = {}
    yield [
        _packed_words(origins.thread[w], origins.register[w], w.start, per, numbers) for w in warps
    ]


def _needs(thread: Ints, register: Ints, start: int) -> Iterator[tuple[int, int, int, int]]:
    """`(reader lane, slot, sender lane, register)` of everything that lies in another lane."""
    away = (thread >= 0) & (thread - start != np.arange(len(thread))[:, None])
    readers, slots = np.nonzero(away)
    return zip(
        readers.tolist(),
        slots.tolist(),
        (thread[away] - start).tolist(),
        register[away].tolist(),
        strict=True,
    )


def _whole_words(thread: Ints, register: Ints, start: int, per: int) -> list[_Letter]:
    letters: dict[tuple[int, int, int], _Letter] = {}
    for reader, slot, sender, reg in _needs(thread, register, start):
        word = reg // per
        letter = _Letter(
            Delivery(sender, word, reader, slot), tuple(range(word * per, word * per + per))
        )
        letters.setdefault((reader, sender, word), letter)
    return list(letters.values())


def _packed_words(
    thread: Ints, register: Ints, start: int, per: int, numbers: dict[tuple[int, ...], int]
) -> list[_Letter]:
    """Words packed for one reader; `numbers` gives equal numbers to equal registers."""
    pairs: dict[tuple[int, int], dict[int, int]] = {}
    for reader, slot, sender, reg in _needs(thread, register, start):
        pairs.setdefault((reader, sender), {}).setdefault(reg, slot)
    letters: list[_Letter] = []
    for (reader, sender), slots in pairs.items():
        wanted = list(slots)
        for k in range(0, len(wanted), per):
            packed = tuple(wanted[k : k + per])
            message = numbers.setdefault(packed, len(numbers))
            letters.append(_Letter(Delivery(sender, message, reader, slots[packed[0]]), packed))
    return letters


def _block_schedules(warps: Sequence[list[_Letter]]) -> Iterator[list[Rounds]]:
    """The same kind of schedule for all warps; warps that are alike share the work."""
    keys = [tuple(letter.delivery for letter in letters) for letters in warps]
    known = {key: list(schedules(key)) for key in dict.fromkeys(keys)}
    ways = len(known[keys[0]])
    for way in range(ways):
        yield [known[key][way] for key in keys]


def _assembled(
    source: Fragment,
    target: Fragment,
    elem_bits: int,
    origins: Origins,
    weights: Weights,
    warps: Sequence[list[_Letter]],
    rounds: Sequence[Rounds],
    bound: int,
) -> ShufflePlan:
    per, threads = per_word(elem_bits), source.threads
    count = max((r + 1 for of_warp in rounds for r in of_warp), default=0)
    reads = np.tile(np.arange(threads, dtype=np.int64), (count, 1))
    offered = np.full((count, threads, per), -1, dtype=np.int64)
    brings: dict[tuple[int, int, int], int] = {}
    offset = _file_offset(source.values, elem_bits)
    for warp, (letters, of_warp) in enumerate(zip(warps, rounds, strict=True)):
        for letter, r in zip(letters, of_warp, strict=True):
            sender = letter.delivery.sender + warp * WARP
            reader = letter.delivery.receiver + warp * WARP
            reads[r, reader] = sender
            offered[r, sender, : len(letter.registers)] = letter.registers
            for place, register in enumerate(letter.registers):
                brings[reader, sender, register] = offset + r * per + place
    offered[offered >= source.values] = -1
    assembly = origins.register.copy()
    away = (origins.thread >= 0) & (origins.thread != np.arange(threads)[:, None])
    for reader, slot in np.argwhere(away).tolist():
        key = (reader, int(origins.thread[reader, slot]), int(origins.register[reader, slot]))
        assembly[reader, slot] = brings[key]
    alu = assembly_cost(offered.transpose(1, 0, 2).reshape(threads, -1), elem_bits)
    alu += assembly_cost(assembly, elem_bits)
    cost = Cost(shuffles=count * words_of(elem_bits), alu=alu)
    cost = cost.estimated(warps_of(source), weights)
    return ShufflePlan(source, target, elem_bits, cost, reads, offered, assembly, bound)

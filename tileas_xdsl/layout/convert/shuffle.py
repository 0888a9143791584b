"""Conversion plans inside a warp: rounds of `shfl.sync.idx.b32`.

In a round every lane names a lane to read; all lanes contribute the same operand of the
instruction.  A lane that must contribute another register than other lanes selects it first, and
selects the destination of the received word: these selects are counted.  Source: PTX ISA,
shfl.sync.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.convert.assembly import assembly_cost
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
from tileas_xdsl.layout.convert.shuffle_rounds import Rounds, schedules
from tileas_xdsl.layout.convert.shuffle_words import ShuffleWords, ways_to_pack
from tileas_xdsl.layout.convert.source_map import SourceMap
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.layout.registers.access import Ints
from tileas_xdsl.layout.registers.register_layout import RegisterContents, RegisterLayout
from tileas_xdsl.layout.units import WARP


@dataclass(frozen=True, eq=False)
class ShufflePlan(Plan):
    """An explicit schedule of shuffles."""

    source_thread: Ints
    """`(rounds, threads)`: the thread that each thread reads from; itself when it needs none."""
    offered: Ints
    """`(rounds, threads, per word)`: the registers that each thread packs and offers."""
    assembly: Ints
    """`(threads, values)`: the source of each target register: below `offset` a register of the
    source layout, else element `(assembly - offset) % per_word` of the word of round `(assembly -
    offset) // per_word`; -1 for none.
    """
    lower_bound: int
    """Lower bound on the rounds of any schedule: words that some lane must send or receive."""

    @property
    def kind(self) -> Kind:
        """`shuffle`."""
        return "shuffle"

    @property
    def rounds(self) -> int:
        """The number of shuffle rounds."""
        return len(self.source_thread)

    @property
    def offset(self) -> int:
        """The index in the register file where received words begin."""
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
    return align_up(values, per)


def lower_bound(source_map: SourceMap, elem_bits: int) -> int:
    """Return a lower bound on the rounds of any schedule for these sources.

    In a round a lane receives one word of one other lane and offers one word; a word holds
    `per_word` elements.
    """
    reader, _ = np.nonzero(~source_map.empty)
    sender, register = source_map.thread[~source_map.empty], source_map.register[~source_map.empty]
    away = sender != reader
    if not away.any():
        return 0
    per, lanes, values = per_word(elem_bits), len(source_map.thread), int(register.max()) + 1
    wanted = np.unique((reader[away] * lanes + sender[away]) * values + register[away])
    pairs, elements = np.unique(wanted // values, return_counts=True)
    received = np.bincount(pairs // lanes, weights=-(-elements // per))
    sent = np.bincount(np.unique(wanted % (lanes * values)) // values)
    return max(int(received.max()), ceil_div(int(sent.max()), per))


def plan_shuffles(
    source: RegisterLayout,
    target: RegisterContents,
    elem_bits: int,
    source_map: SourceMap,
    weights: Weights,
) -> ShufflePlan:
    """The cheapest schedule found for source_map in the same warp."""
    bound = lower_bound(source_map, elem_bits)
    best: ShufflePlan | None = None
    for sent_words in ways_to_pack(source_map, elem_bits):
        for rounds in _block_schedules(sent_words):
            fewest = Cost(shuffles=_count(rounds) * words_of(elem_bits))
            fewest = fewest.estimated(warps_of(source), weights)
            if best is not None and fewest.cycles >= best.cost.cycles:
                continue
            plan = _assembled(
                source, target, elem_bits, source_map, weights, sent_words, rounds, bound
            )
            if best is None or plan.cost.cycles < best.cost.cycles:
                best = plan
    assert best is not None, "there is always a first schedule"
    return best


def _count(rounds: Sequence[Rounds]) -> int:
    return max((max(of_warp, default=-1) + 1 for of_warp in rounds), default=0)


def _block_schedules(warps: Sequence[ShuffleWords]) -> Iterator[list[Rounds]]:
    """Yield block-wide schedules, one method for all warps; equal warps are solved once."""
    known = {
        sent_words: list(schedules(sent_words.deliveries())) for sent_words in dict.fromkeys(warps)
    }
    for way in range(len(known[warps[0]])):
        yield [known[sent_words][way] for sent_words in warps]


def _assembled(
    source: RegisterLayout,
    target: RegisterContents,
    elem_bits: int,
    source_map: SourceMap,
    weights: Weights,
    warps: Sequence[ShuffleWords],
    rounds: Sequence[Rounds],
    bound: int,
) -> ShufflePlan:
    per, threads = per_word(elem_bits), source.threads
    reads = np.tile(np.arange(threads, dtype=np.int64), (_count(rounds), 1))
    offered = np.full((len(reads), threads, per), -1, dtype=np.int64)
    assembly = source_map.register.copy()
    offset = _file_offset(source.values, elem_bits)
    for warp, (sent_words, of_warp) in enumerate(zip(warps, rounds, strict=True)):
        start, in_round = warp * WARP, np.array(of_warp, dtype=np.int64)
        reads[in_round, start + sent_words.receiver] = start + sent_words.sender
        packed = sent_words.registers >= 0
        sent_word, element = np.nonzero(packed)
        rows = in_round[sent_word], start + sent_words.sender[sent_word], element
        offered[rows] = sent_words.registers[packed]
        lanes = slice(start, start + WARP)
        _fill(
            assembly[lanes], source_map.thread[lanes] - start, sent_words, offset + in_round * per
        )
    offered[offered >= source.values] = -1
    alu = assembly_cost(offered.transpose(1, 0, 2).reshape(threads, -1), elem_bits)
    alu += assembly_cost(assembly, elem_bits)
    cost = Cost(shuffles=len(reads) * words_of(elem_bits), alu=alu)
    cost = cost.estimated(warps_of(source), weights)
    return ShufflePlan(source, target, elem_bits, cost, reads, offered, assembly, bound)


def _fill(registers: Ints, sender: Ints, sent_words: ShuffleWords, word: Ints) -> None:
    """Replace registers of other lanes by their indices in the received words of one warp.

    `registers` is the warp's part of the assembly, `sender` the lane of each, negative for none;
    `word` is the first index of the word of each entry of `sent_words`.
    """
    away = (sender >= 0) & (sender != np.arange(len(sender))[:, None])
    reader, _ = np.nonzero(away)
    sent_word, element = np.nonzero(sent_words.registers >= 0)
    received = sent_words.registers[sent_word, element]
    base = int(max(registers.max(initial=0), received.max(initial=0))) + 1
    keys = (sent_words.receiver[sent_word] * WARP + sent_words.sender[sent_word]) * base + received
    order = np.argsort(keys)
    wanted = (reader * WARP + sender[away]) * base + registers[away]
    found = order[np.searchsorted(keys[order], wanted)]
    registers[away] = (word[sent_word] + element)[found]

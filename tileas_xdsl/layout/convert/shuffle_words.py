"""The words that lanes of a warp exchange, as one array per property."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.convert.plan import per_word
from tileas_xdsl.layout.convert.shuffle_rounds import Delivery
from tileas_xdsl.layout.convert.source_map import SourceMap
from tileas_xdsl.layout.registers.access import Ints
from tileas_xdsl.layout.units import WARP


@dataclass(frozen=True, eq=False, slots=True)
class ShuffleWords:
    """The words exchanged in one warp, one per row: sender, receiver and packed registers."""

    sender: Ints
    message: Ints
    """Equal numbers name the same registers."""
    receiver: Ints
    slot: Ints
    """The first register of the receiver that the word fills."""
    registers: Ints
    """`(words, per word)`: the registers that the sender packs, -1 for none."""

    def deliveries(self) -> list[Delivery]:
        """The rows without their registers, for a schedule."""
        columns = (self.sender, self.message, self.receiver, self.slot)
        return [Delivery(*row) for row in zip(*(c.tolist() for c in columns), strict=True)]


def ways_to_pack(source_map: SourceMap, elem_bits: int) -> Iterator[list[ShuffleWords]]:
    """Yield the words to deliver, by warp: whole source words, or words packed for one reader.

    Warps with equal needs share one object.
    """
    needs = _needs_of_warps(source_map)
    values = int(source_map.register.max(initial=0)) + 1
    per = per_word(elem_bits)
    whole = {key: _whole_words(key, values, per) for key in dict.fromkeys(needs)}
    yield [whole[key] for key in needs]
    if per == 1:
        return
    numbers: dict[tuple[int, ...], int] = {}
    packed = {key: _packed_words(key, values, per, numbers) for key in dict.fromkeys(needs)}
    yield [packed[key] for key in needs]


@dataclass(frozen=True, eq=False, slots=True)
class _Needs:
    """The elements a warp needs from other lanes: reader and its slot, sender and its register."""

    reader: Ints
    slot: Ints
    sender: Ints
    register: Ints


def _needs_of_warps(source_map: SourceMap) -> list[_Needs]:
    """Return the needs of each warp; equal ones are the same object."""
    known: dict[tuple[bytes, bytes], _Needs] = {}
    result: list[_Needs] = []
    for start in range(0, len(source_map.thread), WARP):
        thread = source_map.thread[start : start + WARP]
        lane = np.where(thread < 0, -1, thread - start)
        register = source_map.register[start : start + WARP]
        key = lane.tobytes(), register.tobytes()
        if key not in known:
            away = (lane >= 0) & (lane != np.arange(len(lane))[:, None])
            reader, slot = np.nonzero(away)
            known[key] = _Needs(reader, slot, lane[away], register[away])
        result.append(known[key])
    return result


def _whole_words(needs: _Needs, values: int, per: int) -> ShuffleWords:
    word = needs.register // per
    first = _first_of_each((needs.reader * WARP + needs.sender) * values + word)
    registers = word[first, None] * per + np.arange(per, dtype=np.int64)
    return ShuffleWords(
        needs.sender[first], word[first], needs.reader[first], needs.slot[first], registers
    )


def _packed_words(
    needs: _Needs, values: int, per: int, numbers: dict[tuple[int, ...], int]
) -> ShuffleWords:
    """Pack words for one reader each; `numbers` gives equal ids to equal register tuples."""
    pair = needs.reader * WARP + needs.sender
    kept = _first_of_each(pair * values + needs.register)
    kept = kept[np.argsort(_by_appearance(pair[kept]), kind="stable")]
    pair, register = pair[kept], needs.register[kept]
    starts = np.flatnonzero(np.diff(pair, prepend=-1))
    index = np.arange(len(pair), dtype=np.int64)
    rank = index - starts[np.searchsorted(starts, index, side="right") - 1]
    sent_word = np.cumsum(rank % per == 0) - 1
    registers = np.full((int(sent_word[-1]) + 1 if len(sent_word) else 0, per), -1, dtype=np.int64)
    registers[sent_word, rank % per] = register
    packed = [tuple(r for r in row if r >= 0) for row in registers.tolist()]
    message = np.array([numbers.setdefault(row, len(numbers)) for row in packed], dtype=np.int64)
    first = kept[rank % per == 0]
    return ShuffleWords(
        needs.sender[first], message, needs.reader[first], needs.slot[first], registers
    )


def _first_of_each(keys: Ints) -> Ints:
    """Where each different key appears first, in order of appearance."""
    return np.sort(np.unique(keys, return_index=True)[1])


def _by_appearance(keys: Ints) -> Ints:
    """The keys numbered in order of appearance."""
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]

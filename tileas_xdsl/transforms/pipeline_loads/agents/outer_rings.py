"""The rings that agents have beside those of the divided loops: numbers and tiles of loops around.

Loops around the divided ones carry their tokens and iterators behind those of the divided loops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.transforms.pipeline_loads.agents.agent_control import Hand, Take
from tileas_xdsl.transforms.pipeline_loads.agents.handed_values import HandedValues
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import ProducerSlice
from tileas_xdsl.transforms.pipeline_loads.streamed_tiles import StreamedTiles


@dataclass(frozen=True)
class OuterRings:
    """Rings of numbers that one agent hands the other, and of tiles that loops around load."""

    needed: ProducerSlice
    handed: HandedValues
    streamed: StreamedTiles

    @staticmethod
    def of(needed: ProducerSlice, ahead: int, builder: Builder, first: int) -> OuterRings:
        """Make the rings that a slice needs, those of tiles with so many stages.

        `first` is the position of the first token among what is carried.
        """
        handed = HandedValues.of(needed, builder, first)
        streamed = StreamedTiles.of(needed, ahead, builder, first + 2 * len(handed.rings))
        return OuterRings(needed, handed, streamed)

    def begin(self, builder: Builder, *, produces: bool) -> Sequence[SSAValue]:
        """The tokens and first iterators of one side."""
        sides = (self.handed, self.streamed)
        return [value for one in sides for value in one.begin(builder, produces=produces)]

    @property
    def hands(self) -> Mapping[Operation, Hand]:
        """What the producer does for an operation of the loops around."""
        numbers = dict.fromkeys((*self.needed.handed, *self.needed.claimed), self.handed.hand)
        return {**numbers, **dict.fromkeys(self.needed.streamed, self.streamed.hand)}

    @property
    def takes(self) -> Mapping[Operation, Take]:
        """What the consumer does in its place."""
        numbers = dict.fromkeys((*self.needed.handed, *self.needed.claimed), self.handed.take)
        return {**numbers, **dict.fromkeys(self.needed.streamed, self.streamed.take)}

"""C = A * B by one producer and one or two consumers: every variant is filled into one text.

The parts are files: the frame (`kernel.mlir`), where a block finds its tiles, the two forms of the
agents' loops over K, the loads with and without multicast, the two epilogues.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, F32, Array, accumulated
from kernels.kernel import Grid, Kernel, Reference, Sizes, fill, tiles_of

FORMS = ("region", "scalar")
EPILOGUES = ("plain", "tma")
TARGETS: Mapping[str, str] = {"wgmma": "sm_90a", "tcgen05": "sm_100a"}
"""By matrix instruction, the target that has it."""
WARPS_OF_AGENT = 4
PIECES = 2
"""Parts of a tile's columns that a TMA epilogue stores one after another."""
MOST_SUMS = 128 * 128
"""Maximal number of accumulator elements in the registers of one consumer."""
REGISTERS: Mapping[int, Sequence[int]] = {1: (40, 232), 2: (40, 232, 232)}
"""By the number of consumers, the registers of a thread of each agent."""


@dataclass(frozen=True)
class Gemm(Kernel):
    """A block computes tiles of `bm` x `bn`; each consumer has an equal part of their rows.

    TMA wants rows of A and B that are multiples of 16 bytes, in memory and in tiles; sizes are free
    otherwise.
    """

    name: ClassVar[str] = "gemm"
    sizes: ClassVar[Sizes] = {"m": 20, "n": 48, "k": 144}

    element: str = "f16"
    """Of A and B."""
    output: str = "f32"
    b: str = "kn"
    """The layout of B: `kn` is K x N, `nk` is N x K (K-major, needed for 8-bit wgmma)."""
    form: str = "region"
    """`region` (produce_one_async, consume_one) or `scalar` (acquire, write, commit, ...)."""
    epilogue: str = "plain"
    """`plain` stores, or `tma` through shared memory."""
    cluster: int = 1
    """Blocks along x that share the tiles of A by multicast, 1 or 2."""
    pair: int = 1
    """Blocks below one another that multiply together (tcgen05), 1 or 2."""
    consumers: int = 2
    """Agents that multiply, 1 or 2."""
    persistent: int = 0
    """Blocks that are launched and share the tiles among them; 0 for a block for each tile."""
    group: int = 8
    """Rows of tiles in a band, through which persistent blocks go column by column."""
    instruction: str = "wgmma"
    """`wgmma` or `tcgen05`."""
    stages: int = 3
    bm: int = 32
    bn: int = 32
    bk: int = 32

    def __post_init__(self) -> None:
        """Refuse a variant that does not exist."""
        if self.form not in FORMS or self.epilogue not in EPILOGUES:
            raise ValueError(f"no gemm has form {self.form!r} and epilogue {self.epilogue!r}")
        if self.b not in ("kn", "nk"):
            raise ValueError(f"B of a gemm is kn or nk, not {self.b}")
        if self.instruction not in TARGETS:
            raise ValueError(f"a gemm multiplies by {' or '.join(TARGETS)}, not {self.instruction}")
        if self.cluster not in (1, 2):
            raise ValueError(f"a cluster of this gemm has 1 or 2 blocks, not {self.cluster}")
        if self.pair not in (1, 2):
            raise ValueError(f"1 or 2 blocks of this gemm multiply together, not {self.pair}")
        alone = self.instruction != "tcgen05" or self.b != "nk" or self.cluster > 1
        if self.pair == 2 and alone:
            raise ValueError("two blocks multiply together by tcgen05, with B as nk, in a cluster")
        if self.consumers not in REGISTERS:
            raise ValueError(f"this gemm has 1 or 2 consumers, not {self.consumers}")
        if self.persistent < 0 or self.persistent % self._seats or self.group < 1:
            raise ValueError(
                f"no gemm has {self.persistent} persistent blocks in clusters of {self._seats} "
                f"and bands of {self.group} rows of tiles"
            )

    @property
    def target(self) -> str:
        return TARGETS[self.instruction]

    @property
    def variant(self) -> str:
        """A description of the variant."""
        form = {"region": "pipelines with bodies", "scalar": "pipelines step by step"}[self.form]
        store = {"plain": "plain stores", "tma": "a TMA store"}[self.epilogue]
        shared = ", A by multicast" if self.cluster > 1 else ""
        persistent = ", persistent" if self.persistent else ""
        transposed = ", B as N x K" if self.b == "nk" else ""
        together = ", two blocks together" if self.pair > 1 else ""
        return f"{form}, {store}{shared}{transposed}{together}{persistent}"

    @property
    def _seats(self) -> int:
        """Blocks of a cluster."""
        return self.cluster * self.pair

    def text(self) -> str:
        facts, kind = self._facts(), self._kind
        consumers = [self._consumer(index, facts) for index in range(self.consumers)]
        setup = fill("gemm/setup_tma.mlir", facts) if self.epilogue == "tma" else ""
        return fill(
            "gemm/kernel.mlir",
            {
                **facts,
                "PLACE": fill(f"gemm/place_{kind}.mlir", facts),
                "STORE_TYPES": fill(f"gemm/types_{self._stores}.mlir", facts),
                "STORE_SETUP": setup,
                "PRODUCER": self._producer(facts),
                "CONSUMER_AGENTS": "".join(consumers),
            },
        )

    @property
    def _kind(self) -> str:
        return "persistent" if self.persistent else "block"

    @property
    def _sharing(self) -> str:
        """The suffix of shared loads: `_multicast` for A, `_pair` for B."""
        if self.pair > 1:
            return "_pair"
        return "_multicast" if self.cluster > 1 else ""

    @property
    def _order(self) -> str:
        return f"gemm/order{'_pair' if self.pair > 1 else ''}.mlir"

    @property
    def _stores(self) -> str:
        """The epilogue: `tma`, `plain`, or plain stores in `pieces`."""
        too_many = self.bm // self.consumers * self.bn > MOST_SUMS
        return "pieces" if self.epilogue == "plain" and too_many else self.epilogue

    def _producer(self, facts: Mapping[str, str | int]) -> str:
        token, iterator = ("pt", "it") if self.persistent else ("p0", "i0")
        loads = fill(f"gemm/loads{self._sharing}.mlir", facts)
        mine = {**facts, "TOKEN": token, "ITERATOR": iterator, "LOADS": loads}
        tile = fill(f"gemm/producer_{self.form}.mlir", mine)
        order = fill(self._order, facts)
        return fill(f"gemm/producer_{self._kind}.mlir", {"ORDER": order, "TILE": tile})

    def _consumer(self, index: int, facts: Mapping[str, str | int]) -> str:
        token, iterator = ("ct", "jt") if self.persistent else ("c0", "j0")
        own = {"INDEX": index, "FIRST_ROW": index * self.bm // self.consumers}
        mine = {**facts, **own, "TOKEN": token, "ITERATOR": iterator}
        body = fill(
            f"gemm/consumer_{self._kind}.mlir",
            {
                "STAGING": fill("gemm/staging_tma.mlir", mine) if self.epilogue == "tma" else "",
                "ORDER": fill(self._order, facts),
                "TILE": fill(f"gemm/consumer_{self.form}.mlir", mine),
                "EPILOGUE": self._epilogue(mine),
            },
        )
        return fill("gemm/consumer_agent.mlir", {"AGENT": index + 1, "BODY": body})

    def _epilogue(self, facts: Mapping[str, str | int]) -> str:
        return fill(f"gemm/epilogue_{self._stores}.mlir", facts)

    def _facts(self) -> Mapping[str, str | int]:
        element, piece = ELEMENTS[self.element], self.bn // PIECES
        box_a = self.bm // self.cluster
        return {
            "VARIANT": self.variant,
            "AB": element.ir,
            "INSTRUCTION": self.instruction,
            "WORD": element.word,
            "BM": self.bm,
            "BN": self.bn,
            "BK": self.bk,
            "PIECE": piece,
            "PIECES": PIECES,
            "STAGES": self.stages,
            "SLOT": self.bm * self.bk + self.bk * self.bn,
            "BOX_A": box_a,
            "BYTES_A": box_a * self.bk * element.bits // 8,
            "BYTES_B": self.bk * self.bn * element.bits // 8,
            "HALF_B": self.bn // 2,
            "BYTES_HALF_B": self.bk * self.bn // 2 * element.bits // 8,
            **self._operand_facts(),
            **self._consumer_facts(),
            **self._place_facts(),
            **self._cluster_facts(),
            **self._rounding_facts(),
        }

    def _operand_facts(self) -> Mapping[str, str]:
        """The tiles of B in memory, and how a product reads them."""
        if self.b == "kn":
            return {
                "B": "!b",
                "B_TYPES": "",
                "B_ENCODING": "",
                "BOX_B": f"{self.bn}, {self.bk}",
                "BOX_OF_B": "%bn, %bk",
                "AT_B": "%k, %n",
                "TRANSPOSED_B": "",
                "OF_B": "sb",
            }
        return {
            "B": "!bt",
            "B_TYPES": f"!bt = tensor<{self.bn}x{self.bk}x{ELEMENTS[self.element].ir}>",
            "B_ENCODING": f", #nv_tileas.shared<({self.bk},{self.bn}),(1,{self.bk})>",
            "BOX_B": f"{self.bk}, {self.bn // self.pair}",
            "BOX_OF_B": "%bk, %box_b" if self.pair > 1 else "%bk, %bn",
            "AT_B": "%n, %k",
            "TRANSPOSED_B": "%of_rows = nv_tileas.view %sb : !bt -> !b",
            "OF_B": "of_rows",
        }

    def _consumer_facts(self) -> Mapping[str, str | int]:
        halves = "agents 1 and 2 each multiply half of the rows."
        return {
            "CONSUMERS": self.consumers,
            "SHARES": halves if self.consumers > 1 else "agent 1 multiplies.",
            "ROWS": self.bm // self.consumers,
            "WARPS": WARPS_OF_AGENT * (1 + self.consumers),
            "REGISTERS": ", ".join(map(str, REGISTERS[self.consumers])),
        }

    def _place_facts(self) -> Mapping[str, str | int]:
        persistent = "A block goes on to other tiles, as many further on as there are blocks"
        return {
            "PLACES": persistent
            if self.persistent
            else "Block x is the column of tiles, y the row",
            "GROUP": self.group,
            "CLUSTER_SIZE": self._seats,
            "CLUSTER_COLUMNS": self.cluster * self.bn,
            "CLUSTER_ROWS": self.pair * self.bm,
        }

    def _cluster_facts(self) -> Mapping[str, str]:
        shared = self.cluster > 1
        return {
            "MULTICAST": ", multicast" if shared else "",
            "NUM_MULTICAST": f", num_multicast = {self.cluster} : i32" if shared else "",
            "CLUSTER": self._cluster_dim,
            "PAIRED": "<cta_group = 2>" if self.pair > 1 else "",
            "PAIR_BOX": f"%box_b = arith.constant {self.bn // 2} : index" if self.pair > 1 else "",
            "MULTICAST_B": ", multicast" if self.pair > 1 else "",
            "NUM_MULTICAST_B": ", num_multicast = 2 : i32" if self.pair > 1 else "",
        }

    @property
    def _cluster_dim(self) -> str:
        """Where the blocks of a cluster are; persistent ones are all along x."""
        if self._seats == 1:
            return ""
        below = self.pair > 1 and not self.persistent
        return f", cluster_dim = [{'1, 2' if below else '2, 1'}, 1]"

    def _rounding_facts(self) -> Mapping[str, str]:
        """Accumulators of f32 are stored as they are; others are rounded first."""
        output = ELEMENTS[self.output]
        rounds = output is not F32
        return {
            "C": output.ir,
            "ROUND": "%rounded = arith.truncf %acc : !acc to !out" if rounds else "",
            "RESULT": "rounded" if rounds else "acc",
            "PART": "part" if rounds else "stored",
            "ROUND_PIECE": "%stored = arith.truncf %part : !part to !piece" if rounds else "",
        }

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, (m, n, k) = ELEMENTS[self.element], (sizes["m"], sizes["n"], sizes["k"])
        a, b = element.random(rng, (m, k)), element.random(rng, (k, n))
        b = b if self.b == "kn" else np.ascontiguousarray(b.T)
        return (a, b, ELEMENTS[self.output].unset(rng, (m, n)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """Products of two elements are exact in f32; only the accumulation and the result round."""
        a, b = (matrix.astype(np.float64) for matrix in inputs[:2])
        b = b if self.b == "kn" else b.T
        exact, output = a @ b, ELEMENTS[self.output]
        error = accumulated(a.shape[1], np.abs(a) @ np.abs(b))
        rounded = output.rounding(np.abs(exact) + error) if output is not F32 else 0.0
        return {2: Reference(exact, error + rounded)}

    def grid(self, sizes: Sizes) -> Grid:
        if self.persistent:
            return (self.persistent, 1, 1)
        columns = tiles_of(sizes["n"], self.bn)
        rows = tiles_of(tiles_of(sizes["m"], self.bm), self.pair) * self.pair
        return (tiles_of(columns, self.cluster) * self.cluster, rows, 1)

"""C = A * B by one producer and two consumers: every variant is filled into one text.

The parts are files: the frame (`kernel.mlir`), the two forms of the agents, the loads with and
without multicast, the two epilogues.
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


@dataclass(frozen=True)
class Gemm(Kernel):
    """A block computes a tile of `bm` x `bn`; each consumer has half of its rows.

    TMA wants rows of A and B that are multiples of 16 bytes, in memory and in tiles; sizes are free
    otherwise.
    """

    name: ClassVar[str] = "gemm"
    sizes: ClassVar[Sizes] = {"m": 20, "n": 48, "k": 144}

    element: str = "f16"
    """Of A and B."""
    output: str = "f32"
    form: str = "region"
    """`region` (produce_one_async, consume_one) or `scalar` (acquire, write, commit, ...)."""
    epilogue: str = "plain"
    """`plain` stores, or `tma` through shared memory."""
    cluster: int = 1
    """Blocks along x that share the tiles of A by multicast, 1 or 2."""
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
        if self.instruction not in TARGETS:
            raise ValueError(f"a gemm multiplies by {' or '.join(TARGETS)}, not {self.instruction}")
        if self.cluster not in (1, 2):
            raise ValueError(f"a cluster of this gemm has 1 or 2 blocks, not {self.cluster}")

    @property
    def target(self) -> str:
        return TARGETS[self.instruction]

    @property
    def variant(self) -> str:
        """What distinguishes it, in words."""
        form = {"region": "pipelines with bodies", "scalar": "pipelines step by step"}[self.form]
        store = {"plain": "plain stores", "tma": "a TMA store"}[self.epilogue]
        shared = ", A by multicast" if self.cluster > 1 else ""
        return f"{form}, {store}{shared}"

    def text(self) -> str:
        facts = self._facts()
        loads = "loads_multicast" if self.cluster > 1 else "loads"
        producer = fill(
            f"gemm/producer_{self.form}.mlir",
            {**facts, "LOADS": fill(f"gemm/{loads}.mlir", facts)},
        )
        return fill(
            "gemm/kernel.mlir",
            {
                **facts,
                "STORE_TYPES": fill(f"gemm/types_{self.epilogue}.mlir", facts),
                "STORE_SETUP": fill(f"gemm/setup_{self.epilogue}.mlir", facts),
                "PRODUCER": producer,
                "CONSUMER_0": self._consumer(0, facts),
                "CONSUMER_1": self._consumer(1, facts),
            },
        )

    def _consumer(self, index: int, facts: Mapping[str, str | int]) -> str:
        mine = {**facts, "INDEX": index, "FIRST_ROW": index * self.bm // 2}
        epilogue = fill(f"gemm/epilogue_{self.epilogue}.mlir", mine)
        return fill(f"gemm/consumer_{self.form}.mlir", {**mine, "EPILOGUE": epilogue})

    def _facts(self) -> Mapping[str, str | int]:
        element, half, piece = ELEMENTS[self.element], self.bm // 2, self.bn // 2
        box_a = self.bm // self.cluster
        return {
            "VARIANT": self.variant,
            "AB": element.ir,
            "INSTRUCTION": self.instruction,
            "WORD": element.word,
            "BM": self.bm,
            "BN": self.bn,
            "BK": self.bk,
            "HALF": half,
            "PIECE": piece,
            "PIECES": self.bn // piece,
            "STAGES": self.stages,
            "SLOT": self.bm * self.bk + self.bk * self.bn,
            "BOX_A": box_a,
            "BYTES_A": box_a * self.bk * element.bits // 8,
            "BYTES_B": self.bk * self.bn * element.bits // 8,
            **self._cluster_facts(),
            **self._rounding_facts(),
        }

    def _cluster_facts(self) -> Mapping[str, str]:
        shared = self.cluster > 1
        return {
            "MULTICAST": ", multicast" if shared else "",
            "NUM_MULTICAST": f", num_multicast = {self.cluster} : i32" if shared else "",
            "CLUSTER": f", cluster_dim = [{self.cluster}, 1, 1]" if shared else "",
        }

    def _rounding_facts(self) -> Mapping[str, str]:
        """Sums of f32 are stored as they are; others are rounded first."""
        output = ELEMENTS[self.output]
        rounds = output is not F32
        return {
            "C": output.ir,
            "ROUND": "%rounded = arith.truncf %acc : !acc to !out" if rounds else "",
            "RESULT": "rounded" if rounds else "acc",
            "PART": "part" if rounds else "stored",
            "ROUND_PIECE": "%stored = arith.truncf %part : !part to !piece" if rounds else "",
            "RESULT_PIECE": "stored",
        }

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, (m, n, k) = ELEMENTS[self.element], (sizes["m"], sizes["n"], sizes["k"])
        a, b = element.random(rng, (m, k)), element.random(rng, (k, n))
        return (a, b, ELEMENTS[self.output].unset(rng, (m, n)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """Products of two elements are exact in f32, so that only sums and the result round."""
        a, b = (matrix.astype(np.float64) for matrix in inputs[:2])
        exact, output = a @ b, ELEMENTS[self.output]
        error = accumulated(a.shape[1], np.abs(a) @ np.abs(b))
        rounded = output.rounding(np.abs(exact) + error) if output is not F32 else 0.0
        return {2: Reference(exact, error + rounded)}

    def grid(self, sizes: Sizes) -> Grid:
        columns = tiles_of(sizes["n"], self.bn)
        return (tiles_of(columns, self.cluster) * self.cluster, tiles_of(sizes["m"], self.bm), 1)

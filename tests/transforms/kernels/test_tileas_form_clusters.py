# pyright: basic
"""Neighbouring tile blocks as clusters: right in orders of tile blocks, and chosen by launches."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import cuda.tile as ct
import numpy as np
import pytest

import tileas_xdsl as tileas
from kernels.cutile.matmul import matmul
from tests.support.orders import in_turns
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.runtime.cutile.executable import Executable
from tileas_xdsl.runtime.cutile.gpu.flat_arguments import flat_values
from tileas_xdsl.target.launches.persistent_launches import PersistentLaunches
from tileas_xdsl.target.launches.shared_loads import SharedLoads
from tileas_xdsl.target.launches.specializations import LaunchPredicate

ZERO = ct.PaddingMode.ZERO


@ct.kernel
def in_groups(a, b, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = A B, tile blocks in groups of four rows of tiles, as programs order them for the L2."""
    rows, columns = ct.cdiv(a.shape[0], tm), ct.cdiv(b.shape[1], tn)
    first = ct.bid(0) // (4 * columns) * 4
    together = min(rows - first, 4)
    i, j = first + ct.bid(0) % together, ct.bid(0) % (4 * columns) // together
    sums = ct.full((tm, tn), 0, dtype=ct.float32)
    for k in range(ct.num_tiles(a, axis=1, shape=(tm, tk))):
        x = ct.load(a, index=(i, k), shape=(tm, tk), padding_mode=ZERO)
        y = ct.load(b, index=(k, j), shape=(tk, tn), padding_mode=ZERO)
        sums = ct.mma(x, y, sums)
    ct.store(c, index=(i, j), tile=ct.astype(sums, c.dtype))


@dataclass(frozen=True)
class Launch:
    """A product of `m` x `n` x `k` in tiles of 64x64x64, with B's rows `pitch` elements apart."""

    kernel: Any
    m: int
    n: int
    k: int
    pitch: int

    @property
    def grid(self) -> Sequence[int]:
        tiles = -(-self.m // 64), -(-self.n // 64)
        return (*tiles, 1) if self.kernel is matmul else (tiles[0] * tiles[1], 1, 1)

    @cached_property
    def arrays(self) -> Sequence[np.ndarray]:
        rng = np.random.default_rng(self.m + self.n)
        a = rng.standard_normal((self.m, self.k)).astype(np.float16)
        b = rng.standard_normal((self.k, self.pitch)).astype(np.float16)[:, : self.n]
        return a, b, np.zeros((self.m, self.n), np.float16)

    @property
    def arguments(self) -> Sequence[Any]:
        return (*self.arrays, 64, 64, 64)

    @property
    def suits(self) -> bool:
        kernel = compiled(self)
        assert kernel.parameters is not None
        flat = flat_values(kernel.parameters, self.arguments)
        predicate = next(one for one in kernel.abi.shared_loads if one.cluster == (2, 1, 1))
        return predicate.suits(flat, self.grid, 132)


@cache
def compiled(launch: Launch, target: str = "sm_90a") -> CompiledKernel:
    return tileas.compile(launch.kernel, *launch.arguments, target=target)


@cache
def clustered(
    launch: Launch, target: str, *, is_persistent: bool, count: int = 2
) -> CompiledKernel:
    usual = compiled(launch, target)

    def choose(predicate: LaunchPredicate) -> bool:
        is_loop = is_persistent and isinstance(predicate, PersistentLaunches)
        return is_loop or (
            isinstance(predicate, SharedLoads) and predicate.cluster == (count, 1, 1)
        )

    return usual._made_again(choose=choose)


PLAIN, GROUPED = Launch(matmul, 256, 200, 128, 200), Launch(in_groups, 384, 200, 128, 200)
THREE = Launch(matmul, 190, 200, 128, 200)
"""Three tile blocks along x: a fourth one completes clusters, and stores nothing."""


@pytest.mark.parametrize(
    ("launch", "target", "is_persistent", "count", "order"),
    in_turns(
        [
            (PLAIN, "sm_90a", False, 2),
            (PLAIN, "sm_90a", True, 4),
            (GROUPED, "sm_90a", True, 2),
            (GROUPED, "sm_100a", False, 2),
            (THREE, "sm_90a", False, 2),
            (THREE, "sm_90a", True, 4),
            (THREE, "sm_100a", True, 2),
        ],
        ("lazy", "eager", "random"),
    ),
)
def test_clusters_share_b(
    launch: Launch, target: str, is_persistent: bool, count: int, order: Any
) -> None:
    kernel = clustered(launch, target, is_persistent=is_persistent, count=count)
    assert (kernel.abi.cluster, kernel.abi.is_clustered) == ((count, 1, 1), True)
    assert kernel.abi.is_persistent is is_persistent
    assert ".multicast::cluster" in kernel.ptx
    found = kernel.emulate(*launch.arguments, grid=launch.grid, order=order, seed=1)
    a, b, _ = (array.astype(np.float32) for array in launch.arrays)
    np.testing.assert_allclose(found.arrays[2].astype(np.float32), a @ b, atol=0.05, rtol=0.01)
    assert not found.findings


@pytest.mark.parametrize(
    ("launch", "suits"),
    [
        (PLAIN, True),
        (THREE, True),
        (GROUPED, True),  # groups of four and two rows of tiles
        (Launch(in_groups, 320, 256, 128, 264), False),  # the last group has one row of tiles
    ],
)
def test_a_launch_looks_at_its_tile_blocks(launch: Launch, suits: bool) -> None:
    assert launch.suits is suits


def test_a_launch_looks_at_rows() -> None:
    """One kernel for any rows of whole 16 bytes; products of 128x256x64 take longer than loads."""
    text = "f16[?, ?%8; ?%8, 1]@16"
    signature = f"a: {text}, b: {text}, c: {text}, tm=128, tn=256, tk=64"
    abi = tileas.compile(matmul, signature=signature, target="sm_90a").abi
    predicates = abi.shared_loads
    predicate = predicates[1]

    def gains(pitch: int) -> bool:
        of_b = [None, 4096, pitch, pitch, 1]
        return predicate.suits([None, 4096, 4096, 4096, 1, *of_b, *of_b], (32, 16, 1), 132)

    sharing_b, sharing_a = ((4, 1, 1), (2, 1, 1)), ((1, 4, 1), (1, 2, 1))
    assert tuple(one.cluster for one in predicates) == (*sharing_b, *sharing_a)
    assert [pitch for pitch in (4096, 4104, 4112, 4120) if gains(pitch)] == [4104, 4120]
    assert not predicate.may_suit([None] * 15)
    stored = Executable("sm_90a", abi, "", b"").to_bytes()
    assert Executable.from_bytes(stored).abi == abi


@pytest.mark.parametrize(("tile_blocks", "has_room"), [(120, True), (128, False), (288, True)])
def test_clusters_of_four_take_no_more_waves(tile_blocks: int, has_room: bool) -> None:
    """An H200 has room for 30 of them on its 132 multiprocessors."""
    predicate = next(one for one in compiled(PLAIN).abi.shared_loads if one.count == 4)
    assert predicate.has_room((tile_blocks, 1, 1), 132, 120) is has_room


@pytest.mark.parametrize(
    ("pitch", "grid", "suits"),
    [
        (1024, (16, 8, 1), False),  # all at once
        (1032, (16, 8, 1), True),  # in two lines for each row
        (1024, (32, 16, 1), True),
    ],
)
def test_ctas_that_run_at_once_load_lines_together(pitch: int, grid: Any, suits: bool) -> None:
    text = "f16[?, ?%8; ?%8, 1]@16"
    signature = f"a: {text}, b: {text}, c: {text}, tm=64, tn=128, tk=64"
    abi = tileas.compile(matmul, signature=signature, target="sm_90a").abi
    predicate = next(one for one in abi.shared_loads if one.cluster == (2, 1, 1))
    arrays = [None, 1024, 1024, pitch, 1] * 3
    assert predicate.suits(arrays, grid, 132) is suits

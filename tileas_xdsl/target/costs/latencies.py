"""How long things take on one multiprocessor, in cycles: what a virtual clock and a roofline need.

A time is a latency, paid once, plus what moves or is computed over the rate of the unit that does
it. Latencies are those of an idle machine; rates of memory are those left to a multiprocessor
when all of them are busy, rates of arithmetic are peaks.

Hopper, measured on an H200 by `tests/hardware/measure_latencies.py`: a load takes 275 cycles from
the L2 cache and 650 to 690 from beyond. A bulk copy of 128 bytes takes 355 to 370 and 645 to 830
cycles until the thread that waits goes on, and then 98 bytes arrive per cycle; 35 when all 132
multiprocessors copy data of their own, 37 what eight of them copy, 72 to 92 what 32 do; 46 when
they share operands, as products do (DeepGEMM, `sm90.hpp`), or 52 to 58. A bulk store takes 60 to 70
cycles and 32 bytes a cycle, 18 to 20 when all of them store. An arrival takes 7 cycles, and 67
until the thread of another warp that waits for it goes on; `bar.sync` of four warps takes 20.
Blocks start 0.6 ns after one another on the chip, whatever their warps; one that waits for the end
of another begins 390 cycles after it. `wgmma` m64n256k16 takes 128 cycles, the last of a row 66
more.

Products of 8192^3 in bf16 run at 747 to 785 of 989 teraflops on an H200: power caps them.

Published: shared memory 29 cycles (a chase of words takes 23), another block's 180 (arXiv
2402.13499); lanes (CUDA C++ Programming Guide, arithmetic instructions, 9.0); tensor cores and
clocks (NVIDIA's data sheets of the H100 and the HGX B200). Blackwell's copies and `tcgen05.mma`
follow a published latency model of the B200 (facebookexperimental/triton, pull request 1219): a
copy takes from 518 cycles, 128x128x64 takes 559 and 128x128x128 takes 900. Its lanes and shared
memory are Hopper's (FlashAttention-4); what nobody has published is taken over from Hopper.
`shuffle`, `scalar` and `warp_issue` are estimates.

sm_120a is the GeForce RTX 5090 of NVIDIA's RTX Blackwell whitepaper: multiprocessors, clock, peaks
of tensor cores (209.5 teraflops of f16 into f32) and 1792 GB/s, 4.4 bytes a cycle of each
multiprocessor; its latencies are Hopper's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.layout.memory.elements import ALIASES, ELEMENT_TYPES, unknown_element
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.bits import whole
from tileas_xdsl.target.errors import TargetError


@dataclass(frozen=True, slots=True)
class ProductRate:
    """A kind of matrix product: how fast, and the blocks in which the hardware multiplies."""

    multiplications: int
    """Products with their additions per cycle and multiprocessor."""
    m: int = 1
    n: int = 1
    k: int = 1
    """Extents are rounded up to multiples of these: a part of a block takes as long as a whole."""

    def cycles(self, m: int, n: int, k: int) -> int:
        """Cycles of an `m` x `n` x `k` product."""
        blocks = (align_up(m, self.m), align_up(n, self.n), align_up(k, self.k))
        return ceil_div(prod(blocks), self.multiplications)


@dataclass(frozen=True, slots=True)
class Latencies:
    """The clock of one target; times are whole cycles, at least 1, for one multiprocessor."""

    target: str
    multiprocessors: int
    clustered: Mapping[int, int]
    """Multiprocessors that clusters can be on, by their CTAs, where those are not all: a cluster is
    on one group of multiprocessors."""
    clock: int
    """Millions of cycles per second of a boosted GPU, as published peaks assume."""
    global_latency: int
    """A load that misses the caches."""
    cache_latency: int
    """A load that hits the L2 cache."""
    load_rate: int
    """Bytes per cycle from the L2 cache to one multiprocessor, when all of them load."""
    operand_rate: int
    """The same of TMA, of what others load at that time too: operands of products."""
    store_rate: int
    """Bytes per cycle from one multiprocessor to the L2 cache, when all of them store."""
    dram_rate: int
    """Bytes per cycle of a multiprocessor's share of DRAM: of Hopper 4.31 TB/s, as measured on an
    H200; of others the published bandwidth."""
    dram_bandwidth: int
    """Gigabytes per second that DRAM reads, or writes, where it does only one of them."""
    dram_turn: int
    """Percent that a byte takes longer which DRAM writes between reads, or reads between writes."""
    unwritten: int
    """Megabytes of the L2 cache that a launch may leave to be written to DRAM by the next one."""
    replaced: int
    """Percent of the bytes of a launch in whose place lines have to be written."""
    kept: int
    """Megabytes moved between two loads of a line from which on the L2 cache loses some."""
    lost: int
    """Those from which on it loses all."""
    load_variation: int
    """Percent of the square of its mean that the variance is of the time which the loads of a warp
    take of DRAM, where all multiprocessors load."""
    atomic_rate: int
    """Accesses of lanes by `red` per cycle of one multiprocessor, of up to 8 bytes each."""
    shared_latency: int
    shared_rate: int
    """Bytes per cycle of shared memory."""
    shared_busy: int
    """Percent of the cycles in which it is busy at most where two CTAs share a multiprocessor."""
    tma_latency: int
    """A bulk copy of few bytes, from issue until a thread that waits for them goes on."""
    tma_cache_latency: int
    """The same where the bytes are in the L2 cache."""
    store_latency: int
    """A bulk store of few bytes, from commit until the group has completed."""
    arrive: int
    """An arrival on an mbarrier of the block."""
    wake: int
    """From the completion of a phase until a waiting agent goes on."""
    remote: int
    """What is added for shared memory and barriers of another block of the cluster."""
    barrier: int
    """A named barrier, from the last arrival."""
    proxy_fence: int
    """Until what threads have written to shared memory is there for matrix units and TMA."""
    grid_launch: int
    """Nanoseconds between two events around a launch whose block does nothing."""
    launch: int
    """From the end of a block until the one that takes its shared memory begins."""
    block_launch: int
    """Cycles of a multiprocessor between the starts of two blocks, which follow one another."""
    scalar: int
    """An operation on scalars, or the least that one on a tile takes."""
    drain: int
    """From the end of the last product until its results may be read."""
    lanes: int
    """Elements of up to 32 bits per cycle that arithmetic takes."""
    special_lanes: int
    """Exponentials, logarithms, roots, reciprocals and sines per cycle."""
    shuffle: int
    """One exchange between the lanes of a warp."""
    warp_issue: int
    """Instructions that a warp issues in 100 cycles in which no other one of its scheduler does."""
    power_cap: int
    """Percent of the peak of tensor cores that a GPU sustains, for its clock falls with power."""
    products: Mapping[str, ProductRate]
    """By element type; what is missing is multiplied by the lanes."""

    def load(self, count: int, *, cached: bool = False) -> int:
        """`count` bytes from global memory, or its L2 cache, into registers."""
        return (self.cache_latency if cached else self.global_latency) + self.transfer(count)

    def transfer(self, count: int) -> int:
        """How long `count` bytes occupy the path from the L2 cache to the multiprocessor."""
        return ceil_div(_bytes(count), self.load_rate)

    def shared(self, count: int) -> int:
        """`count` bytes between shared memory and registers, without bank conflicts."""
        return self.shared_latency + ceil_div(_bytes(count), self.shared_rate)

    def tma(self, count: int, *, cached: bool = False) -> int:
        """`count` bytes from global into shared memory, until a waiting thread goes on."""
        return (self.tma_cache_latency if cached else self.tma_latency) + self.transfer(count)

    def lost_part(self, count: float) -> float:
        """The part of lines that the L2 cache has no more when `count` bytes have been moved."""
        return min(max((count / 1e6 - self.kept) / (self.lost - self.kept), 0.0), 1.0)

    def bulk_store(self, count: int) -> int:
        """`count` bytes from shared into global memory, from commit until the group is complete."""
        return self.store_latency + ceil_div(_bytes(count), self.store_rate)

    def product(self, m: int, n: int, k: int, element_name: str) -> int:
        """An `m` x `n` x `k` product, dense, among others of its kind: nothing to fill or drain."""
        extents = [whole(extent, "an extent of a product") for extent in (m, n, k)]
        if min(extents) < 0:
            raise TargetError(f"a product of {m} x {n} x {k} has a negative extent")
        return max(1, self.rate_of(element_name).cycles(*extents))

    def rate_of(self, element_name: str) -> ProductRate:
        """Return the rate of products of these elements; `TargetError` for an unknown name."""
        name = ALIASES.get(element_name, element_name)
        if name not in ELEMENT_TYPES:
            raise TargetError(unknown_element(element_name))
        return self.products.get(name, ProductRate(self.lanes))

    def elementwise(self, count: int) -> int:
        """Return the cycles of an arithmetic operation on each of `count` elements."""
        return max(self.scalar, ceil_div(_elements(count), self.lanes))

    def special(self, count: int) -> int:
        """Return the cycles of an exponential, root or reciprocal of each of `count` elements."""
        return max(self.scalar, ceil_div(_elements(count), self.special_lanes))

    def reduction(self, count: int) -> int:
        """Cycles to reduce `count` elements: one pass over the lanes, then five shuffles."""
        return self.elementwise(count) + 5 * self.shuffle

    def multiprocessors_of_clusters(self, count: int) -> int:
        """Return how many multiprocessors clusters of so many CTAs can be on, a CTA on each."""
        return self.clustered.get(count, self.multiprocessors // count * count)

    def peak(self, element_name: str) -> float:
        """Teraflops of the whole GPU on products of these elements; an addition counts too."""
        per_cycle = 2 * self.rate_of(element_name).multiplications * self.multiprocessors
        return per_cycle * self.clock / 1e6


def _bytes(count: int) -> int:
    return _positive(count, "a number of bytes")


def _elements(count: int) -> int:
    return _positive(count, "a number of elements")


def _positive(count: int, what: str) -> int:
    """At least 1, so that nothing is free."""
    if whole(count, what) < 0:
        raise TargetError(f"{what} is not negative, but got {count}")
    return max(1, count)


def _tensor(multiplications: int, m: int, k_of_bytes: int) -> Mapping[str, ProductRate]:
    """MMA rates derived from that of f16: double for 8-bit elements, half for 32-bit ones."""

    def rate(factor: float, bits: int) -> ProductRate:
        return ProductRate(round(multiplications * factor), m, 8, k_of_bytes * 8 // bits)

    return {
        **dict.fromkeys(("f16", "bf16"), rate(1, 16)),
        **dict.fromkeys(("f8e4m3", "f8e5m2", "i8"), rate(2, 8)),
        "tf32": rate(0.5, 32),
    }


_HOPPER = Latencies(
    target="sm_90a",
    multiprocessors=132,
    clustered={4: 120, 8: 120},
    clock=1830,
    global_latency=650,
    cache_latency=275,
    load_rate=46,
    operand_rate=52,
    store_rate=18,
    dram_rate=18,
    dram_bandwidth=4700,
    dram_turn=26,
    unwritten=35,
    replaced=45,
    kept=25,
    lost=70,
    load_variation=200,
    atomic_rate=1,
    shared_latency=29,
    shared_rate=128,
    shared_busy=95,
    tma_latency=645,
    tma_cache_latency=355,
    store_latency=60,
    arrive=7,
    wake=60,
    remote=180,
    barrier=20,
    proxy_fence=60,
    grid_launch=2850,
    launch=390,
    block_launch=154,
    scalar=4,
    drain=66,
    lanes=128,
    special_lanes=16,
    shuffle=24,
    warp_issue=75,
    power_cap=78,
    products={**_tensor(2048, 64, 32), "f64": ProductRate(128, 8, 8, 4)},
)

H200, ESTIMATE = "measured on an H200, 2026-11-28: ", "an estimate"
LATER = "measured on an H200, 2026-11-29: "
LATEST = "measured on an H200, 2026-11-30: "

SOURCES: Mapping[str, str] = {
    "multiprocessors": "NVIDIA's data sheet of the H100",
    "clustered": LATEST + "the driver has room for 30 clusters of four, and 15 of eight",
    "clock": "NVIDIA's data sheet of the H100, as its published peaks assume",
    "global_latency": H200 + "global load, miss: 663",
    "cache_latency": H200 + "global load, hit: 279",
    "load_rate": "DeepGEMM, sm90.hpp; bulk loads by all of data of their own arrive at 35",
    "store_rate": H200 + "bulk store of 131072 B, by all: 20",
    "operand_rate": LATEST + "products of 64x256x32 tiles at 58; bulk loads of what 32 load at 92",
    "dram_rate": H200 + "a copy of 4.31 TB/s",
    "dram_bandwidth": H200 + "reads of 128, 256, 512 MiB: 32.8, 62.4, 119.7 us",
    "dram_turn": H200 + "copies of 256, 512 MiB: 131.4, 262.8 us, sums of two: 186.2, 371.8",
    "unwritten": H200 + "reads of 128, 512 MiB behind writes of 256 MiB take 7.9 us longer",
    "replaced": H200 + "reads of 32, 64 MiB behind writes of 256 MiB take 3.2, 5.7 us longer",
    "kept": LATEST + "256 MiB read twice with 26, 35 MB under way: 6, 12 to 19 us more than once",
    "lost": LATEST + "the same with 52, 69, 104 MB: 24, 57, 59 us more",
    "load_variation": LATER + "4 loads by 1 to 32 warps: 792, 827, 900, 1165, 1956, 3830 cycles",
    "atomic_rate": LATEST + "f32 in vectors of 1, 2, 4: 0.97, 1.9, 2.5 elements a cycle",
    "grid_launch": H200 + "1, 132, 1056 blocks that do nothing: 2.85, 2.88, 3.39 us",
    "shared_latency": "arXiv 2402.13499; a chase of words takes 23",
    "shared_rate": "CUDA C++ Programming Guide, 32 banks of 4 bytes",
    "shared_busy": LATEST
    + "128x128x64: f16 657 to 690 cycles for 640, of int8 weights 852 for 768",
    "tma_latency": H200 + "bulk load of 128 B, miss: 838, 645 at other times",
    "tma_cache_latency": H200 + "bulk load of 128 B, hit: 380, by all: 360",
    "store_latency": H200 + "bulk store of 128 B: 72",
    "arrive": H200 + "arrival: 6.7",
    "wake": H200 + "arrival until another warp goes on: 66.6, with the arrival",
    "remote": "arXiv 2402.13499",
    "barrier": H200 + "bar.sync of four warps: 19.9",
    "proxy_fence": LATER + "behind stores of 4 warps 55, of 8 68",
    "launch": LATER + "blocks of 100, 200 KB of shared memory, 1 to 12 warps: 385 to 393",
    "block_launch": LATER + "131072 blocks that do nothing, 4 to 16 warps: 87 us; of 32: 97 us",
    "scalar": H200 + "fma of the result of one: 4.1",
    "drain": H200 + "1 wgmma m64n256k16: 196, 16 of them: 2116",
    "lanes": "CUDA C++ Programming Guide, arithmetic instructions, 9.0",
    "special_lanes": "CUDA C++ Programming Guide, arithmetic instructions, 9.0",
    "shuffle": ESTIMATE,
    "warp_issue": ESTIMATE,
    "power_cap": "measured on an H200, 2026-11-22: 747 to 785 of 989 teraflops",
    "products": "NVIDIA's data sheet of the H100; " + H200 + "128 cycles a wgmma m64n256k16",
}
"""Where Hopper's constants are from, by field: `tests/hardware/measure_latencies.py`, and
`measure_blocks.py` for what blocks do together."""

_BLACKWELL_BYTES = ProductRate(8192, 128, 8, 32)

_BLACKWELL = replace(
    _HOPPER,
    target="sm_100a",
    multiprocessors=148,
    clustered={},
    clock=1855,
    dram_rate=29,
    dram_bandwidth=8000,
    tma_latency=518,
    drain=218,
    products={
        **_tensor(4096, 128, 32),
        **dict.fromkeys(("f6e2m3", "f6e3m2", "f4e2m1", "mxf8", "mxf6"), _BLACKWELL_BYTES),
        **dict.fromkeys(("mxf4", "nvfp4"), ProductRate(16384, 128, 8, 64)),
        "f64": ProductRate(64, 8, 8, 4),
    },
)

_GEFORCE_BYTES = ProductRate(512, 16, 8, 32)

_GEFORCE = replace(
    _HOPPER,
    target="sm_120a",
    multiprocessors=170,
    clustered={},
    clock=2407,
    load_rate=16,
    operand_rate=16,
    store_rate=4,
    dram_rate=4,
    dram_bandwidth=1792,
    drain=16,
    products={
        **_tensor(256, 16, 32),
        "i8": ProductRate(1024, 16, 8, 32),
        **dict.fromkeys(("f6e2m3", "f6e3m2", "f4e2m1", "mxf8", "mxf6"), _GEFORCE_BYTES),
        **dict.fromkeys(("mxf4", "nvfp4"), ProductRate(2048, 16, 8, 64)),
        "f64": ProductRate(2),
    },
)

LATENCIES: Mapping[str, Latencies] = {
    table.target: table for table in (_HOPPER, _BLACKWELL, _GEFORCE)
}
"""By target; every target of `TARGETS` has one."""


def latencies(target_name: str) -> Latencies:
    """The clock of the target called `target_name`; `TargetError` lists the known ones."""
    return LATENCIES[get_target(target_name).name]

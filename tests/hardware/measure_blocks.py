"""Measure how blocks follow one another on Hopper, bulk loads that miss, streams and updates.

    python tests/hardware/measure_blocks.py

Constants of `tileas_xdsl/target/costs/latencies.py`: `launch`, `block_launch`, `kept`,
`lost`, `load_variation`, `atomic_rate`.  Needs a GPU of compute capability 9.0 and its driver, as
`measure_latencies.py` does.
"""

from __future__ import annotations

import ctypes
import statistics
import sys
from collections import defaultdict
from itertools import pairwise, product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from measure_latencies import Gpu

FRAME = """.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry measure(.param .u64 p_result, .param .u64 p_data, .param .u32 p_chunk,
    .param .u32 p_stages, .param .u32 p_count, .param .u32 p_sources)
{{
  .reg .u64 %result, %data, %a, %start, %end, %state;
  .reg .u32 %chunk, %stages, %count, %sources, %i, %s, %parity, %slot, %bar, %mem, %block, %issued;
  .reg .u32 %x;
  .reg .pred %p;
  ld.param.u64 %result, [p_result];
  ld.param.u64 %data, [p_data];
  ld.param.u32 %chunk, [p_chunk];
  ld.param.u32 %stages, [p_stages];
  ld.param.u32 %count, [p_count];
  ld.param.u32 %sources, [p_sources];
  mov.u32 %x, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %mem, memory;
  mov.u64 %start, %clock64;
  setp.ne.u32 %p, %x, 0;
  @%p bra DONE;
{body}
  mov.u64 %end, %clock64;
  mul.wide.u32 %a, %block, 24;
  add.u64 %result, %result, %a;
  mov.u32 %x, %smid;
  cvt.u64.u32 %a, %x;
  st.global.u64 [%result], %start;
  st.global.u64 [%result+8], %end;
  st.global.u64 [%result+16], %a;
DONE:
  ret;
}}
"""

NOTHING = "bra DONE;"

SPINS = """
SPIN:
  mov.u64 %end, %clock64;
  sub.u64 %a, %end, %start;
  setp.lt.u64 %p, %a, 2000;
  @%p bra SPIN;
"""

LOAD = """
  mad.lo.u32 %bar, %{slot}, 8, %mem;
  mad.lo.u32 %slot, %{slot}, %chunk, %mem;
  add.u32 %slot, %slot, 1024;
  mul.wide.u32 %a, %issued, %chunk;
  add.u64 %a, %a, %data;
  mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%bar], %chunk;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%slot], [%a], %chunk, [%bar];
  add.u32 %issued, %issued, 1;
"""

RING = f"""
  mov.u32 %issued, 0;
INIT:
  mad.lo.u32 %bar, %issued, 8, %mem;
  mbarrier.init.shared::cta.b64 [%bar], 1;
  add.u32 %issued, %issued, 1;
  setp.lt.u32 %p, %issued, %stages;
  @%p bra INIT;
  fence.mbarrier_init.release.cluster;
  rem.u32 %x, %block, %sources;
  mul.lo.u32 %s, %chunk, %count;
  mul.wide.u32 %a, %x, %s;
  add.u64 %data, %data, %a;
  mov.u32 %issued, 0;
FIRST:
{LOAD.format(slot="issued")}
  setp.lt.u32 %p, %issued, %stages;
  @%p bra FIRST;
  mov.u32 %i, 0;
  mov.u32 %s, 0;
  mov.u32 %parity, 0;
NEXT:
  mad.lo.u32 %bar, %s, 8, %mem;
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], %parity;
  @!%p bra WAIT;
  setp.ge.u32 %p, %issued, %count;
  @%p bra FILLED;
{LOAD.format(slot="s")}
FILLED:
  add.u32 %s, %s, 1;
  setp.ge.u32 %p, %s, %stages;
  selp.u32 %s, 0, %s, %p;
  selp.u32 %x, 1, 0, %p;
  xor.b32 %parity, %parity, %x;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, %count;
  @%p bra NEXT;
"""
"""Chunks that follow one another in global memory, into so many stages; some blocks have equal
sources."""


def _four_loads(address: str, apart: int, kind: str = "") -> str:
    """Four vectors of a thread, so many bytes `apart`, which it waits for: their sum."""
    registers = [[f"%v{4 * load + k}" for k in range(4)] for load in range(4)]
    loads = (
        f"  ld.global{kind}.v4.b32 {{{', '.join(found)}}}, [{address}+{apart * load}];\n"
        for load, found in enumerate(registers)
    )
    sums = (f"  xor.b32 %sum, %sum, {one};\n" for found in registers for one in found)
    return "".join((*loads, *sums))


STREAM = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry measure(.param .u64 p_result, .param .u64 p_data, .param .u32 p_rounds,
    .param .u32 p_1, .param .u32 p_2, .param .u32 p_3)
{
  .reg .u64 %result, %data, %a, %stride;
  .reg .u32 %rounds, %x, %y;
  .reg .b32 %v<16>, %sum;
  .reg .pred %p;
  ld.param.u64 %result, [p_result];
  ld.param.u64 %data, [p_data];
  ld.param.u32 %rounds, [p_rounds];
  mov.u32 %x, %ctaid.x;
  mov.u32 %y, %ntid.x;
  mul.lo.u32 %x, %x, %y;
  mov.u32 %y, %tid.x;
  add.u32 %x, %x, %y;
  shr.u32 %x, %x, 5;
  mul.wide.u32 %a, %x, 2048;
  add.u64 %data, %data, %a;
  and.b32 %y, %y, 31;
  mul.wide.u32 %a, %y, 16;
  add.u64 %data, %data, %a;
  mov.u32 %x, %nctaid.x;
  mov.u32 %y, %ntid.x;
  mul.lo.u32 %x, %x, %y;
  shr.u32 %x, %x, 5;
  mul.wide.u32 %stride, %x, 2048;
  mov.b32 %sum, 0;
NEXT:
LOADS  add.u64 %data, %data, %stride;
  sub.u32 %rounds, %rounds, 1;
  setp.ne.u32 %p, %rounds, 0;
  @%p bra NEXT;
  setp.eq.b32 %p, %sum, 123456789;
  @%p st.global.b32 [%result], %sum;
  ret;
}
""".replace("LOADS", _four_loads("%data", 512))
"""Four loads of 512 bytes by each warp, which waits for them, then the next ones."""

UPDATES = """.version 8.1
.target sm_90a
.address_size 64
.visible .entry measure(.param .u64 p_result, .param .u64 p_data, .param .u32 p_rounds,
    .param .u32 p_sources, .param .u32 p_2, .param .u32 p_3)
{{
  .reg .u64 %data, %a, %b;
  .reg .u32 %rounds, %sources, %x, %y;
  .reg .f32 %v;
  .reg .pred %p;
  ld.param.u64 %data, [p_data];
  ld.param.u32 %rounds, [p_rounds];
  ld.param.u32 %sources, [p_sources];
  mov.u32 %x, %ctaid.x;
  rem.u32 %x, %x, %sources;
  mul.wide.u32 %a, %x, 65536;
  add.u64 %data, %data, %a;
  mov.u32 %x, %tid.x;
  shr.u32 %y, %x, 5;
  mul.wide.u32 %a, %y, 8192;
  add.u64 %data, %data, %a;
  shr.u32 %y, %x, 2;
  and.b32 %y, %y, 7;
  mul.wide.u32 %a, %y, 512;
  add.u64 %data, %data, %a;
  and.b32 %y, %x, 3;
  mul.wide.u32 %a, %y, {bytes};
  add.u64 %data, %data, %a;
  mov.f32 %v, 0f3F800000;
NEXT:
{updates}  sub.u32 %rounds, %rounds, 1;
  setp.ne.u32 %p, %rounds, 0;
  @%p bra NEXT;
  ret;
}}
"""
"""Sums of 128x128 f32 that 256 threads add to, a row by four lanes of a warp, as accumulators."""

REREADS = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry measure(.param .u64 p_result, .param .u64 p_data, .param .u32 p_rounds,
    .param .u32 p_passes, .param .u32 p_2, .param .u32 p_3)
{
  .reg .u64 %result, %data, %a;
  .reg .u32 %rounds, %passes, %x, %y;
  .reg .b32 %v<16>, %sum;
  .reg .pred %p;
  ld.param.u64 %result, [p_result];
  ld.param.u64 %data, [p_data];
  ld.param.u32 %rounds, [p_rounds];
  ld.param.u32 %passes, [p_passes];
  mov.u32 %x, %ctaid.x;
  shl.b32 %y, %rounds, 14;
  mul.wide.u32 %a, %x, %y;
  add.u64 %data, %data, %a;
  mov.u32 %x, %tid.x;
  mul.wide.u32 %a, %x, 16;
  add.u64 %data, %data, %a;
  mov.b32 %sum, 0;
PASS:
  mov.u32 %x, %rounds;
  mov.u64 %a, %data;
NEXT:
LOADS  add.u64 %a, %a, 16384;
  sub.u32 %x, %x, 1;
  setp.ne.u32 %p, %x, 0;
  @%p bra NEXT;
  bar.sync 0;
  sub.u32 %passes, %passes, 1;
  setp.ne.u32 %p, %passes, 0;
  @%p bra PASS;
  setp.eq.b32 %p, %sum, 123456789;
  @%p st.global.b32 [%result], %sum;
  ret;
}
""".replace("LOADS", _four_loads("%a", 4096, ".KIND"))
"""Blocks of 256 threads that read chunks of their own as often as asked, 16 KB at a time."""

SHARED_BYTES = 225 << 10
MANY = 1 << 17


class Blocks:
    """Launches, with the clocks of each block."""

    def __init__(self) -> None:
        self.gpu = Gpu()
        self.result = self.gpu.memory(24 * MANY)
        self.data = self.gpu.memory(256 << 20)
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.gpu.call("cuEventCreate", ctypes.byref(event), 0)

    def function(self, body: str) -> ctypes.c_void_p:
        """Load a kernel."""
        return self.loaded(FRAME.format(body=body))

    def loaded(self, text: str) -> ctypes.c_void_p:
        """Load a kernel that is a whole text."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.gpu.call("cuModuleLoadData", ctypes.byref(module), text.encode())
        self.gpu.call("cuModuleGetFunction", ctypes.byref(function), module, b"measure")
        self.gpu.call("cuFuncSetAttribute", function, 8, SHARED_BYTES)
        return function

    def launch(
        self, function: ctypes.c_void_p, blocks: int, threads: int, shared: int, *numbers: int
    ) -> float:
        """Return the microseconds of a launch, between two events."""
        values = [self.result, self.data, *map(ctypes.c_uint32, (*numbers, *(0,) * 4)[:4])]
        arguments = (ctypes.c_void_p * 6)(*[ctypes.addressof(value) for value in values])
        start, end = self.events
        shape = (blocks, 1, 1, threads, 1, 1, shared)
        self.gpu.call("cuEventRecord", start, None)
        self.gpu.call("cuLaunchKernel", function, *shape, None, arguments, None)
        self.gpu.call("cuEventRecord", end, None)
        self.gpu.call("cuEventSynchronize", end)
        milliseconds = ctypes.c_float()
        self.gpu.call("cuEventElapsedTime", ctypes.byref(milliseconds), start, end)
        return 1000 * milliseconds.value

    def clocks(self, blocks: int) -> list[tuple[int, int, int]]:
        """Return begin, end and multiprocessor of each block."""
        found = (ctypes.c_uint64 * (3 * blocks))()
        self.gpu.call("cuMemcpyDtoH_v2", found, self.result, ctypes.sizeof(found))
        return [(found[k], found[k + 1], found[k + 2]) for k in range(0, 3 * blocks, 3)]


def starts(blocks: Blocks) -> None:
    """Print how fast blocks start, which do nothing."""
    function = blocks.function(NOTHING)
    for warps in (4, 8, 16, 32):
        times = [blocks.launch(function, MANY, 32 * warps, 0) for _ in range(5)]
        print(f"{statistics.median(times):8.1f} us  {MANY} blocks of {warps} warps do nothing")


def gaps(blocks: Blocks) -> None:
    """Print how long after the end of a block the one begins that takes its shared memory."""
    function, count = blocks.function(SPINS), 16 * blocks.gpu.multiprocessors
    for warps in (1, 4, 12):
        for _ in range(2):
            blocks.launch(function, count, 32 * warps, 200 << 10)
        by_place: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for begin, end, place in blocks.clocks(count):
            by_place[place].append((begin, end))
        ordered = [sorted(found) for found in by_place.values()]
        found = [b[0] - a[1] for one in ordered for a, b in pairwise(one)]
        print(f"{statistics.median(found):8.0f}  cycles between blocks of {warps} warps")


def misses(blocks: Blocks) -> None:
    """Print the bytes a cycle of bulk loads by all, of what some blocks read at once."""
    function, count = blocks.function(RING), blocks.gpu.multiprocessors
    for share, stages, is_cold in product((4, 8, 32), (3, 4, 6, 9, 13), (False, True)):
        rates: list[float] = []
        for _ in range(5):
            if is_cold:
                blocks.gpu.flush()
            shared, sources = 1024 + stages * 16384, max(count // share, 1)
            blocks.launch(function, count, 32, shared, 16384, stages, 96, sources)
            cycles = statistics.median(end - begin for begin, end, _ in blocks.clocks(count))
            rates.append(96 * 16384 / cycles)
        what = f"bulk loads of {share} blocks each, {stages} stages of 16 KB"
        where = "misses" if is_cold else "hits"
        print(f"{statistics.median(rates):8.1f} B a cycle  {what}, {where}")


def streams(blocks: Blocks) -> None:
    """Print the cycles, at 1.83 GHz, of four loads by each of some warps of all multiprocessors."""
    function, count = blocks.loaded(STREAM), blocks.gpu.multiprocessors
    for warps in (1, 2, 4, 8, 16, 32):
        rounds, times = (256 << 20) // (count * warps * 2048), list[float]()
        for _ in range(5):
            times.append(blocks.launch(function, count, 32 * warps, 0, rounds))
        cycles = 1830 * statistics.median(times) / rounds
        print(f"{cycles:8.0f}  cycles of four loads by {warps} warps of each multiprocessor")


def rereads(blocks: Blocks) -> None:
    """Print how much longer it takes to read 256 MiB twice, by what blocks have under way."""
    for kind, size, resident in product(("cg", "ca"), (1, 2, 4, 8), (1, 2, 4, 6)):
        function = blocks.loaded(REREADS.replace("KIND", kind))
        count, shared = (256 << 20) // (size << 14), (SHARED_BYTES // resident) & ~1023
        found: list[float] = []
        for passes in (1, 2):
            times: list[float] = []
            for _ in range(5):
                blocks.gpu.flush()
                times.append(blocks.launch(function, count, 256, shared, size, passes))
            found.append(statistics.median(times))
        under_way = size * 16384 * resident * blocks.gpu.multiprocessors / 1e6
        what = f"{kind}, {resident} chunks of {16 * size} KB each: {under_way:.1f} MB"
        print(f"{found[1] - found[0]:8.1f} us  more than {found[0]:.1f} to read twice, {what}")


def updates(blocks: Blocks) -> None:
    """Print the elements a cycle, at 1.83 GHz, that all add to f32 sums of 128x128, in vectors."""
    count, rounds = blocks.gpu.multiprocessors, 16
    for width, share in product((1, 2, 4), (1, 8)):
        kind, values = (f".v{width}", ", ".join(["%v"] * width)) if width > 1 else ("", "%v")
        added = f"{{{values}}}" if width > 1 else values
        places = [4096 * k + n for k in range(2) for n in range(0, 512, 16 * width)]
        name = f"red.relaxed.gpu.global.add{kind}.f32"
        body = "".join(f"  {name} [%data+{place}], {added};\n" for place in places)
        function = blocks.loaded(UPDATES.format(bytes=4 * width, updates=body))
        sources = max(count // share, 1)
        times = [blocks.launch(function, count, 256, 0, rounds, sources) for _ in range(5)]
        rate = rounds * 16384 / (1830 * statistics.median(times))
        print(f"{rate:8.2f}  elements a cycle, vectors of {width}, sums of {share} blocks each")


def main() -> None:
    """Print the table of measurements."""
    blocks = Blocks()
    for measure in (starts, gaps, misses, streams, rereads, updates):
        measure(blocks)


if __name__ == "__main__":
    main()

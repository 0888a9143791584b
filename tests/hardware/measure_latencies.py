"""Measure the Hopper latencies of `tileas_xdsl/target/costs/latencies.py`, in cycles.

    python tests/hardware/measure_latencies.py

Needs a GPU of compute capability 9.0 and its driver; the standard library is enough.  Each
measurement is a PTX kernel that reads the clock before and after; of several runs the least counts.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

ROUNDS = 64
"""Repetitions of short instructions inside one measured kernel."""

SHARED_BYTES = 180 << 10
BLOCK_BYTES = 1 << 20
"""Bytes of global memory owned by each block."""

FRAME = """.version 8.0
.target sm_90a
.address_size 64
.extern .shared .align 1024 .b8 memory[];
.visible .entry measure(.param .u64 p_result, .param .u64 p_data, .param .u32 p_bytes)
{{
  .reg .u64 %result, %data, %a, %start, %end, %state;
  .reg .u32 %bytes, %i, %thread, %block, %full, %empty, %x, %parity;
  .reg .pred %p, %first;
  ld.param.u64 %result, [p_result];
  ld.param.u64 %data, [p_data];
  ld.param.u32 %bytes, [p_bytes];
  cvta.to.global.u64 %result, %result;
  cvta.to.global.u64 %data, %data;
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mul.wide.u32 %a, %block, 8;
  add.u64 %result, %result, %a;
  mul.wide.u32 %a, %block, {block_bytes};
  add.u64 %data, %data, %a;
  mov.u32 %full, memory;
  add.u32 %empty, %full, 8;
  mov.u32 %parity, 0;
  setp.eq.u32 %first, %thread, 0;
  @%first mbarrier.init.shared::cta.b64 [%full], {arrivals};
  @%first mbarrier.init.shared::cta.b64 [%empty], 1;
  @%first fence.mbarrier_init.release.cluster;
  bar.sync 0;
  mov.u64 %start, %clock64;
{body}
  mov.u64 %end, %clock64;
DONE:
  sub.u64 %end, %end, %start;
  @%first st.global.u64 [%result], %end;
  ret;
}}
"""


def kernel(body: str, arrivals: int = 1) -> str:
    """Return the kernel that measures `body`; its mbarrier `%full` expects `arrivals` arrivals."""
    return FRAME.format(body=body, arrivals=arrivals, block_bytes=BLOCK_BYTES)


ONE_THREAD = "@!%first bra DONE;\n"

GLOBAL_CHASE = (
    "mov.u64 %a, %data;\n"
    + "ld.global.cg.u64 %a, [%a];\n" * ROUNDS
    + "st.shared.u64 [%full+64], %a;"
)

SHARED_CHASE = (
    "add.u32 %x, %full, 64;\nst.shared.u32 [%x], %x;\n"
    + "ld.volatile.shared.u32 %x, [%x];\n" * ROUNDS
    + "st.shared.u32 [%full+128], %x;"
)

ARRIVALS = (
    "mbarrier.arrive.shared::cta.b64 %state, [%full];\n" * ROUNDS
    + "st.shared.u64 [%full+64], %state;"
)

PING_PONG = f"""
and.b32 %x, %thread, 31;
setp.ne.u32 %p, %x, 0;
@%p bra DONE;
mov.u32 %i, 0;
@!%first bra OTHER;
PING:
  mbarrier.arrive.shared::cta.b64 %state, [%full];
PING_WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%empty], %parity;
  @!%p bra PING_WAIT;
  xor.b32 %parity, %parity, 1;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, {ROUNDS};
  @%p bra PING;
bra LAST;
OTHER:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%full], %parity;
  @!%p bra OTHER;
  mbarrier.arrive.shared::cta.b64 %state, [%empty];
  xor.b32 %parity, %parity, 1;
  add.u32 %i, %i, 1;
  setp.lt.u32 %p, %i, {ROUNDS};
  @%p bra OTHER;
LAST:
"""

BULK_LOAD = f"""{ONE_THREAD}
add.u32 %i, %full, 1024;
mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%full], %bytes;
cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%i], [%data], %bytes, [%full];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%full], 0;
  @!%p bra WAIT;
"""

BULK_STORE = f"""{ONE_THREAD}
add.u32 %i, %full, 1024;
cp.async.bulk.global.shared::cta.bulk_group [%data], [%i], %bytes;
cp.async.bulk.commit_group;
cp.async.bulk.wait_group 0;
"""


def wgmma(count: int, n: int = 256) -> str:
    """Return `count` wgmma m64nNk16 of f16 by each warpgroup, and their wait."""
    registers = ", ".join(f"%f{i}" for i in range(n // 2))
    lines = [".reg .f32 %f<128>;", ".reg .u64 %matrix;", "mov.u64 %matrix, 0x4000004000010040;"]
    lines += [f"mov.f32 %f{i}, 0f00000000;" for i in range(128)]
    lines += ["wgmma.fence.sync.aligned;", "bar.sync 0;", "mov.u64 %start, %clock64;"]
    lines += [
        f"wgmma.mma_async.sync.aligned.m64n{n}k16.f32.f16.f16 {{{registers}}}, "
        "%matrix, %matrix, 1, 1, 1, 0, 0;"
    ] * count
    lines += ["wgmma.commit_group.sync.aligned;", "wgmma.wait_group.sync.aligned 0;"]
    lines += ["mov.u64 %end, %clock64;"]
    lines += [f"add.f32 %f0, %f0, %f{i};" for i in range(1, 128)]
    lines += ["setp.eq.f32 %p, %f0, 0f4B189680;", "@%p st.shared.f32 [%full+64], %f0;"]
    return "\n".join([*lines, "bra DONE;"])


CHAINS = 8
"""Independent values, so that no instruction waits for the one before."""

FMA = "fma.rn.f32 %v{k}, %v{k}, %v{k}, %v{k};"
EXP2 = "ex2.approx.ftz.f32 %v{k}, %v{k};"
MAX = "max.f32 %v{k}, %v{k}, %v{next};"
PACK = "{{.reg .b32 %h; cvt.rn.f16x2.f32 %h, %v{k}, %v{k}; mov.b32 %v{k}, %h;}}"
LANES = "shfl.sync.bfly.b32 %v{k}, %v{k}, 1, 31, -1;"


def mixture(*lines: str, chains: int = CHAINS) -> str:
    """Return `ROUNDS` repetitions of instructions on each of some values of a thread.

    They are loaded, since ptxas computes with what it knows, and merges what is equal.
    """
    text = [f".reg .f32 %v<{CHAINS}>;"]
    text += [f"ld.global.f32 %v{k}, [%data+{4 * k}];" for k in range(CHAINS)]
    text += ["bar.sync 0;", "mov.u64 %start, %clock64;"]
    each = [line.format(k=k, next=(k + 1) % CHAINS) for line in lines for k in range(chains)]
    text += each * ROUNDS
    text += ["mov.u64 %end, %clock64;"]
    text += [f"add.f32 %v0, %v0, %v{k};" for k in range(1, CHAINS)]
    text += ["setp.eq.f32 %p, %v0, 0f4B189680;", "@%p st.shared.f32 [%full+64], %v0;"]
    return "\n".join([*text, "bra DONE;"])


TURNS = "\n".join(
    [
        "setp.lt.u32 %p, %thread, 128;",
        "@%p bra FIRST;",
        "bar.arrive 1, 256;",
        *(["bar.sync 2, 256;", "bar.arrive 1, 256;"] * (ROUNDS - 1)),
        "bar.sync 2, 256;",
        "bra LAST;",
        "FIRST:",
        *(["bar.sync 1, 256;", "bar.arrive 2, 256;"] * ROUNDS),
        "LAST:",
    ]
)
"""Two warpgroups that wait for one another in turn, as consumers that share the tensor core do."""


@dataclass(frozen=True)
class Measurement:
    """A kernel and its launch; `rounds` is the number of measured repetitions."""

    name: str
    text: str
    rounds: int = 1
    threads: int = 128
    size: int = 0
    blocks: int = 1
    cold: bool = False
    """Whether to flush the L2 cache before the run."""


def measurements(multiprocessors: int) -> Sequence[Measurement]:
    """Return all measurements."""
    found = [
        Measurement("shared memory", kernel(SHARED_CHASE), ROUNDS, 1),
        Measurement("bar.sync of four warps", kernel("bar.sync 1, 128;\n" * ROUNDS), ROUNDS),
        Measurement("arrival", kernel(ARRIVALS, arrivals=2 * ROUNDS), ROUNDS, 1),
        Measurement("arrival until another warp goes on", kernel(PING_PONG), 2 * ROUNDS, 64),
        Measurement("global load, hit", kernel(GLOBAL_CHASE), ROUNDS, 1),
        Measurement("global load, miss", kernel(GLOBAL_CHASE), ROUNDS, 1, cold=True),
    ]
    found.append(Measurement("turn of two warpgroups", kernel(TURNS), 2 * ROUNDS, 256))
    for what, line in (("fma", FMA), ("ex2", EXP2), ("shuffle", LANES), ("max", MAX)):
        text = kernel(mixture(line, chains=1))
        found.append(Measurement(f"{what} of the result of one, one warp", text, ROUNDS, 32))
    mixtures = {
        "fma": [FMA],
        "ex2": [EXP2],
        "max": [MAX],
        "two to f16x2": [PACK],
        "shuffle": [LANES],
        "ex2 and 8 fma": [EXP2, *[FMA] * 8],
        "softmax": [MAX, FMA, EXP2, FMA, PACK],
    }
    for threads in (32, 128, 256, 512):
        for what, lines in mixtures.items():
            name = f"{what}, {threads // 32} warps: cycles of {CHAINS} values"
            found.append(Measurement(name, kernel(mixture(*lines)), ROUNDS, threads))
    for size in (128, 4096, 16384, 65536, 131072):
        for what, text in (("load", BULK_LOAD), ("store", BULK_STORE)):
            name = f"bulk {what} of {size} B"
            found += [
                Measurement(f"{name}, hit", kernel(text), size=size),
                Measurement(f"{name}, miss", kernel(text), size=size, cold=True),
                Measurement(f"{name}, by all", kernel(text), size=size, blocks=multiprocessors),
            ]
    found += [Measurement(f"{n} wgmma m64n256k16", kernel(wgmma(n))) for n in (1, 2, 4, 8, 16)]
    for n in (64, 128):
        for threads in (128, 256):
            name = f"16 wgmma m64n{n}k16 of {threads // 128} warpgroups"
            found.append(Measurement(name, kernel(wgmma(16, n)), threads=threads))
    return found


class Gpu:
    """The first GPU, accessed through the driver API."""

    def __init__(self) -> None:
        self.cuda = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        count = ctypes.c_int()
        self.call("cuDeviceGetAttribute", ctypes.byref(count), 16, device)
        self.multiprocessors = count.value
        self.result = self.memory(8 * self.multiprocessors)
        self.data = self.memory(BLOCK_BYTES * self.multiprocessors)
        self.other = self.memory(512 << 20)

    def call(self, name: str, *arguments: object) -> None:
        """Call the driver; raise with the name of the function on failure."""
        code = getattr(self.cuda, name)(*arguments)
        if code:
            text = ctypes.c_char_p()
            self.cuda.cuGetErrorName(code, ctypes.byref(text))
            raise RuntimeError(f"{name}: {(text.value or b'?').decode()}")

    def memory(self, size: int) -> ctypes.c_uint64:
        """Allocate global memory."""
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def chain(self) -> None:
        """Fill the data with a pointer chain with a stride of 4 KiB and one cache line."""
        for k in range(ROUNDS + 1):
            place, target = (self.data.value + (k + j) * 4224 for j in (0, 1))
            word = ctypes.c_uint64(target)
            self.call("cuMemcpyHtoD_v2", ctypes.c_uint64(place), ctypes.byref(word), 8)

    def flush(self) -> None:
        """Evict the data from the L2 cache."""
        self.call("cuMemsetD8_v2", self.other, 1, ctypes.c_size_t(512 << 20))
        self.call("cuCtxSynchronize")

    def time(self, measurement: Measurement) -> float:
        """Return the cycles of the median block in the fastest of seven runs."""
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoadData", ctypes.byref(module), measurement.text.encode())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, b"measure")
        self.call("cuFuncSetAttribute", function, 8, SHARED_BYTES)
        return min(self.run(function, measurement) for _ in range(7)) / measurement.rounds

    def run(self, function: ctypes.c_void_p, measurement: Measurement) -> int:
        """Return the cycles of the median block in one run."""
        if measurement.cold:
            self.flush()
        size = ctypes.c_uint32(measurement.size)
        values = [ctypes.addressof(v) for v in (self.result, self.data, size)]
        arguments = (ctypes.c_void_p * 3)(*values)
        grid, block = (measurement.blocks, 1, 1), (measurement.threads, 1, 1)
        self.call("cuLaunchKernel", function, *grid, *block, SHARED_BYTES, None, arguments, None)
        self.call("cuCtxSynchronize")
        cycles = (ctypes.c_uint64 * measurement.blocks)()
        self.call("cuMemcpyDtoH_v2", cycles, self.result, ctypes.sizeof(cycles))
        return sorted(cycles)[measurement.blocks // 2]


def main() -> None:
    """Print the table of measurements."""
    gpu = Gpu()
    for measurement in measurements(gpu.multiprocessors):
        gpu.chain()
        print(f"{gpu.time(measurement):8.1f}  {measurement.name}", flush=True)


if __name__ == "__main__":
    main()

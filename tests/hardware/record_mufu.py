"""Record and check `tileas_xdsl/target/mufu` on a GPU of Hopper.

    python tests/hardware/record_mufu.py [--write] [--chunks 256]

Every f32 argument of `ex2`, `rcp`, `rsqrt`, `sqrt` and `lg2` with `.approx`, with and without
`.ftz`, runs on the GPU and is compared with `target/mufu/functions.py`, bit for bit but for the
payload of NaN; `--chunks` takes that many of the 256 chunks of arguments, evenly spread.  With
`--write` the tables are recorded first.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).parents[2]))

from tileas_xdsl.interpreters.ptx import load
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.ptx_launcher import TextLauncher
from tileas_xdsl.target.mufu import tables
from tileas_xdsl.target.mufu.functions import FUNCTIONS, approximate

THREADS = 256
CHUNKS, CHUNK = 256, 1 << 24

TEXT = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry apply(.param .u64 x, .param .u64 y)
.maxntid {threads}, 1, 1
{{
  .reg .u32 %i, %n;
  .reg .u64 %o, %x, %y;
  .reg .f32 %v;
  mov.u32 %i, %tid.x; mov.u32 %n, %ctaid.x; mad.lo.u32 %i, %n, {threads}, %i;
  mul.wide.u32 %o, %i, 4;
  ld.param.u64 %x, [x]; add.u64 %x, %x, %o;
  ld.param.u64 %y, [y]; add.u64 %y, %y, %o;
  ld.global.f32 %v, [%x];
  {instruction} %v, %v;
  st.global.f32 [%y], %v;
  ret;
}}
"""

Words = NDArray[np.uint32]

ARGUMENTS: dict[str, tuple[str, int, int]] = {
    "rcp": ("rcp", 0x3F800000, 0x40000000),
    "rsqrt": ("rsqrt", 0x3F800000, 0x40800000),
    "sqrt": ("sqrt", 0x3F800000, 0x40800000),
    "lg2": ("lg2", 0x3F800000, 0x40000000),
    "lg2_below_one": ("lg2", 0x3F000000, 0x3F800000),
}
"""By table: the function, and the bit patterns of its first and behind its last argument."""


class Unit:
    """One approximate instruction on the GPU."""

    def __init__(self, name: str, ftz: bool) -> None:
        instruction = f"{name}.approx{'.ftz' if ftz else ''}.f32"
        text = TEXT.format(threads=THREADS, instruction=instruction)
        self.launcher = TextLauncher(text, load(text), gpu())

    def results(self, patterns: Words) -> Words:
        """The results of arguments, a multiple of the threads of a block, as bit patterns."""
        found = np.zeros_like(patterns)
        return np.asarray(self.launcher.launch((patterns, found), patterns.size // THREADS)[1])


def record() -> None:
    """Write every table."""
    steps = np.arange(1 << 23, dtype=np.float32) / np.float32(1 << 23)
    unit = Unit("ex2", ftz=True)
    found = {
        "ex2": unit.results(steps.view(np.uint32)),
        "ex2_negative": unit.results((-steps).view(np.uint32)),
    }
    for name, (function, low, high) in ARGUMENTS.items():
        found[name] = Unit(function, ftz=True).results(np.arange(low, high, dtype=np.uint32))
    for name, patterns in found.items():
        (Path(tables.__file__).parent / f"{name}.xz").write_bytes(tables.packed(patterns))
    tables.recorded.cache_clear()


def check(chunks: int) -> int:
    """Print the number of differences of each instruction; return their sum."""
    total = 0
    for name in FUNCTIONS:
        for ftz in (True, False):
            unit, wrong, example = Unit(name, ftz), 0, ""
            for chunk in range(0, CHUNKS, max(1, CHUNKS // chunks)):
                patterns = np.arange(CHUNK, dtype=np.uint32) + np.uint32(chunk * CHUNK)
                there = unit.results(patterns).view(np.float32)
                here = approximate(name, patterns.view(np.float32), ftz)
                differs = (here.view(np.uint32) != there.view(np.uint32)) & ~(
                    np.isnan(here) & np.isnan(there)
                )
                wrong += int(differs.sum())
                if differs.any() and not example:
                    at = int(np.argmax(differs))
                    example = f", first {patterns[at]:#010x}: {there[at]!r}, not {here[at]!r}"
            print(f"{name}{'.ftz' if ftz else ''}: {wrong} differ{example}", flush=True)
            total += wrong
    return total


def main() -> int:
    """Record if asked to, then check."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    given = parser.parse_args()
    if given.write:
        record()
    return int(check(given.chunks) > 0)


if __name__ == "__main__":
    sys.exit(main())

"""The page `docs/functions.md`: what functions and roundings there are.

    python -m tileas_xdsl.tools.function_table > docs/functions.md

The tables are those that `expand-math` and the lowering to PTX read.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tileas_xdsl.dialects.nv_tileas.compute.float_modes import (
    FLUSH,
    MODES,
    ROUNDING,
    SATURATE,
    Modes,
)
from tileas_xdsl.target.math_functions import BOUNDS_F64, MATH_FUNCTIONS, MathFunction

_DOUBLES = ", ".join(f"`{name}`" for name in BOUNDS_F64)

HEAD = f"""# Functions and roundings

Written by `python -m tileas_xdsl.tools.function_table`; the numbers are those of the tables that
the compiler reads.

## Functions of `math` on f32

`expand-math` writes functions out as sequences of `arith` that are the same, bit for bit, in the
interpreter and in the emulator, and on a GPU where they are only sums, products, fused
multiply-adds, quotients, square roots and integers. Errors are distances from the correctly rounded
result in units of the last place: what the CUDA math library promises, which is kept, and the
largest that was seen (`python benchmarks/math_accuracy.py`). f16 and bf16 are computed in f32 and
rounded once; 8-bit floats too. Of f64 there are `sqrt`, `rsqrt`, `fma`, roundings to integers,
`absf` and `copysign`, and as sequences, off by {max(BOUNDS_F64.values())} at most, {_DOUBLES}.

`cosh`, `sinh`, `tan` and `tanh` take powers of two and inverses from the approximate instructions;
interpreter and emulator round these correctly, so that a GPU's results may be the promised error
away from theirs.

`fastmath<afn>` or `fastmath<fast>` allow the instructions of the last columns, with subnormal
numbers as zero; `{ROUNDING} = "approx"` asks for them without that. A function
without any is written out all the same.

| function | by | at most | seen | approximated by | error |
|---|---|---|---|---|---|
"""

ROUNDINGS = f"""
## Roundings

`{ROUNDING}` is a text, `{FLUSH}` and `{SATURATE}` are unit attributes.
Without them sums and products round to nearest, or are fused where `fastmath<contract>` or
`fastmath<fast>` allows it. Directions are for f32 and f64, flushing and saturating for f32.

| operation | `{ROUNDING}` | `{FLUSH}` | `{SATURATE}` |
|---|---|---|---|
"""


def _function(name: str, function: MathFunction) -> str:
    by = ", ".join(f"`{text}.f32`" for text in function.instructions) or "a sequence"
    fast = ", ".join(f"`{text}.f32`" for text in function.fast)
    return (
        f"| `{name}` | {by} | {function.bound} | {function.measured} | {fast} "
        f"| {function.fast_error} |"
    )


def _modes(name: str, modes: Modes) -> str:
    roundings = ", ".join(f"`{word}`" for word in modes.roundings)
    flushes, saturates = ("yes" if can else "" for can in (modes.flushes, modes.saturates))
    return f"| `{name}` | {roundings} | {flushes} | {saturates} |"


def page() -> Iterator[str]:
    """The parts of the page."""
    yield HEAD
    yield "".join(f"{_function(*row)}\n" for row in MATH_FUNCTIONS.items())
    yield ROUNDINGS
    yield "".join(f"{_modes(*row)}\n" for row in MODES.items())


if __name__ == "__main__":
    sys.stdout.write("".join(page()))

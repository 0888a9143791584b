"""Forms of floating-point arithmetic.

Source: PTX ISA 9.7.3 (single and double), 9.7.4 (half), 9.7.5 (mixed), checked against ptxas 13.
"""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.target.isa.forms import InstructionForm, form
from tileas_xdsl.target.isa.requirements import since

ROUNDINGS = ("rn", "rz", "rm", "rp")
APPROXIMATE = ("approx",)
HALVES = ("f16", "f16x2")
BRAINS = ("bf16", "bf16x2")
_BRAIN_ARITHMETIC = since((7, 8), 90)
_PAIRS = since((8, 6), 100)
"""Operations on two f32 at once."""


def _sums(name: str) -> Iterator[InstructionForm]:
    """`add`, `sub`, `mul`."""
    types = "d, a, b"
    yield form(f"{name}{{.rounding}}{{.ftz}}{{.sat}}.type", types,
               rounding=ROUNDINGS, type=("f32",))  # fmt: skip
    yield form(f"{name}{{.rounding}}.type", types, rounding=ROUNDINGS, type=("f64",))
    yield form(f"{name}{{.rounding}}{{.ftz}}.type", types, _PAIRS,
               rounding=ROUNDINGS, type=("f32x2",))  # fmt: skip
    yield form(f"{name}{{.rounding}}{{.ftz}}{{.sat}}.type", types, since((4, 2), 53),
               rounding=("rn",), type=HALVES)  # fmt: skip
    yield form(f"{name}{{.rounding}}.type", types, _BRAIN_ARITHMETIC,
               rounding=("rn",), type=BRAINS)  # fmt: skip


def _fused() -> Iterator[InstructionForm]:
    """`fma` and `mad`."""
    types = "d, a, b, c"
    for name in ("fma", "mad"):
        yield form(f"{name}.rounding{{.ftz}}{{.sat}}.type", types,
                   rounding=ROUNDINGS, type=("f32",))  # fmt: skip
        yield form(f"{name}.rounding.type", types, rounding=ROUNDINGS, type=("f64",))
    yield form("fma.rounding{.ftz}.type", types, _PAIRS, rounding=ROUNDINGS, type=("f32x2",))
    yield form("fma.rounding{.ftz}{.sat}.type", types, since((4, 2), 53),
               rounding=("rn",), type=HALVES)  # fmt: skip
    yield form("fma.rounding{.ftz}.relu.type", types, since((7, 0), 80),
               rounding=("rn",), type=HALVES)  # fmt: skip
    yield form("fma.rounding{.relu}.type", types, since((7, 0), 80),
               rounding=("rn",), type=BRAINS)  # fmt: skip


def _mixed() -> Iterator[InstructionForm]:
    """Yield the mixed-precision forms: f16 or bf16 operands added to f32."""
    for name in ("add", "sub"):
        yield form(f"{name}{{.rounding}}{{.sat}}.to.type", "d:f32, a, b:f32", _PAIRS,
                   rounding=ROUNDINGS, to=("f32",), type=("f16", "bf16"))  # fmt: skip
    yield form("fma.rounding{.sat}.to.type", "d:f32, a, b, c:f32", _PAIRS,
               rounding=ROUNDINGS, to=("f32",), type=("f16", "bf16"))  # fmt: skip


def _quotients() -> Iterator[InstructionForm]:
    """`div`, `sqrt`, `rcp`."""
    for name, types in (("div", "d, a, b"), ("sqrt", "d, a"), ("rcp", "d, a")):
        roundings = ("approx", "full", *ROUNDINGS) if name == "div" else ("approx", *ROUNDINGS)
        yield form(f"{name}.rounding{{.ftz}}.type", types, rounding=roundings, type=("f32",))
        yield form(f"{name}.rounding.type", types, rounding=ROUNDINGS, type=("f64",))
    yield form("rcp.rounding.ftz.type", "d, a", rounding=APPROXIMATE, type=("f64",))


def _approximations() -> Iterator[InstructionForm]:
    for name in ("rsqrt", "ex2", "lg2", "sin", "cos"):
        yield form(f"{name}.rounding{{.ftz}}.type", "d, a", rounding=APPROXIMATE, type=("f32",))
    yield form("rsqrt.rounding{.ftz}.type", "d, a", rounding=APPROXIMATE, type=("f64",))
    yield form("ex2.rounding.type", "d, a", since((7, 0), 75), rounding=APPROXIMATE, type=HALVES)
    yield form("ex2.rounding.ftz.type", "d, a", since((7, 8), 90),
               rounding=APPROXIMATE, type=BRAINS)  # fmt: skip
    yield form("tanh.rounding.type", "d, a", since((7, 0), 75),
               rounding=APPROXIMATE, type=("f32", *HALVES))  # fmt: skip
    yield form("tanh.rounding.type", "d, a", since((7, 8), 90),
               rounding=APPROXIMATE, type=BRAINS)  # fmt: skip


def _extremes(name: str) -> Iterator[InstructionForm]:
    """`min`, `max`."""
    signs = "{.xorsign.abs}"
    yield form(f"{name}{{.ftz}}{{.NaN}}{signs}.type", "d, a, b", type=("f32",))
    yield form(f"{name}{{.ftz}}{{.NaN}}{{.abs}}.f32", "d, a, b, c", since((8, 8), 100))
    yield form(f"{name}.type", "d, a, b", type=("f64",))
    yield form(f"{name}{{.ftz}}{{.NaN}}{signs}.type", "d, a, b", since((7, 0), 80), type=HALVES)
    yield form(f"{name}{{.NaN}}{signs}.type", "d, a, b", since((7, 0), 80), type=BRAINS)


def _signs(name: str) -> Iterator[InstructionForm]:
    """`abs`, `neg`."""
    yield form(f"{name}{{.ftz}}.type", "d, a", type=("f32",))
    yield form(f"{name}.type", "d, a", type=("f64",))
    yield form(f"{name}{{.ftz}}.type", "d, a", since((6, 0), 53), type=HALVES)
    yield form(f"{name}.type", "d, a", since((7, 0), 80), type=BRAINS)


FORMS = (
    *(row for name in ("add", "sub", "mul") for row in _sums(name)),
    *_fused(),
    *_mixed(),
    *_quotients(),
    *_approximations(),
    *(row for name in ("min", "max") for row in _extremes(name)),
    *(row for name in ("abs", "neg") for row in _signs(name)),
    form("copysign.type", "d, a, b", type=("f32", "f64")),
)

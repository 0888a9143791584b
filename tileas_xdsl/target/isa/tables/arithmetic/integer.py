"""Forms of integer arithmetic, logic and shifts.

Source: PTX ISA 9.7.1 (integer), 9.7.2 (extended precision), 9.7.8 (logic and shift), checked
against ptxas 13.
"""

from __future__ import annotations

from tileas_xdsl.target.isa.forms import form
from tileas_xdsl.target.isa.requirements import since

INTEGERS = ("u16", "s16", "u32", "s32", "u64", "s64")
BITS = ("b16", "b32", "b64")
WORDS = ("u32", "s32", "u64", "s64")
SINGLE = ("u32", "s32")
SHIFTS = ("wrap", "clamp")
PERMUTATIONS = ("f4e", "b4e", "rc8", "ecl", "ecr", "rc16")
_PAIRS = since((8, 0), 90)

FORMS = (
    *(
        row
        for name in ("add", "sub")
        for row in (
            form(f"{name}.type", "d, a, b", type=INTEGERS),
            form(f"{name}{{.sat}}.type", "d, a, b", type=("s32",)),
            form(f"{name}.cc.type", "d, a, b", type=WORDS),
            form(f"{name}c{{.cc}}.type", "d, a, b", type=WORDS),
        )
    ),
    form("add.type", "d, a, b", _PAIRS, type=("u16x2", "s16x2")),
    form("mul.mode.type", "d, a, b", mode=("lo", "hi"), type=INTEGERS),
    form("mul.mode.type", "d:wide, a, b", mode=("wide",), type=("u16", "s16", "u32", "s32")),
    form("mad.mode.type", "d, a, b, c", mode=("lo", "hi"), type=INTEGERS),
    form("mad.mode.type", "d:wide, a, b, c:wide", mode=("wide",), type=("u16", "s16", *SINGLE)),
    form("mad.mode.sat.s32", "d, a, b, c", mode=("hi",)),
    form("mad.mode.cc.type", "d, a, b, c", mode=("lo", "hi"), type=WORDS),
    form("madc.mode{.cc}.type", "d, a, b, c", mode=("lo", "hi"), type=WORDS),
    form("mul24.mode.type", "d, a, b", mode=("lo", "hi"), type=SINGLE),
    form("mad24.mode.type", "d, a, b, c", mode=("lo", "hi"), type=SINGLE),
    form("sad.type", "d, a, b, c", type=INTEGERS),
    form("div.type", "d, a, b", type=INTEGERS),
    form("rem.type", "d, a, b", type=INTEGERS),
    *(
        row
        for name in ("min", "max")
        for row in (
            form(f"{name}.type", "d, a, b", type=INTEGERS),
            form(f"{name}.type", "d, a, b", _PAIRS, type=("u16x2",)),
            form(f"{name}{{.relu}}.type", "d, a, b", _PAIRS, type=("s32", "s16x2")),
        )
    ),
    form("abs.type", "d, a", type=("s16", "s32", "s64")),
    form("neg.type", "d, a", type=("s16", "s32", "s64")),
    form("dp4a.a_type.b_type", "d:b32, a:b32, b:b32, c:b32", a_type=SINGLE, b_type=SINGLE),
    form("dp2a.mode.a_type.b_type", "d:b32, a:b32, b:b32, c:b32",
         mode=("lo", "hi"), a_type=SINGLE, b_type=SINGLE),
    # Logic
    *(form(f"{name}.type", "d, a, b", type=("pred", *BITS)) for name in ("and", "or", "xor")),
    form("not.type", "d, a", type=("pred", *BITS)),
    form("cnot.type", "d, a", type=BITS),
    form("lop3.b32", "d, a, b, c, 150"),
    form("shl.type", "d, a, b:u32", type=BITS),
    form("shr.type", "d, a, b:u32", type=(*BITS, *INTEGERS)),
    form("shf.direction.mode.b32", "d, a, b, c:u32", direction=("l", "r"), mode=SHIFTS),
    # Bits and bytes
    form("bfe.type", "d, a, b:u32, c:u32", type=WORDS),
    form("bfi.type", "d, a, b, c:u32, e:u32", type=("b32", "b64")),
    form("bmsk.mode.b32", "d, a:u32, b:u32", since((7, 6), 70), mode=SHIFTS),
    form("szext.mode.type", "d, a, b:u32", since((7, 6), 70), mode=SHIFTS, type=SINGLE),
    form("popc.type", "d:u32, a", type=("b32", "b64")),
    form("clz.type", "d:u32, a", type=("b32", "b64")),
    form("brev.type", "d, a", type=("b32", "b64")),
    form("bfind{.shiftamt}.type", "d:u32, a", type=WORDS),
    form("fns.b32", "d, a:b32, b:b32, c:s32", since((6, 0), 30)),
    form("prmt.type", "d, a, b, c", type=("b32",)),
    form("prmt.b32.selection", "d:b32, a:b32, b:b32, c:b32", selection=PERMUTATIONS),
)  # fmt: skip

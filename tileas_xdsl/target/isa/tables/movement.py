"""Forms of moves, address conversions, hints and control flow.

Source: PTX ISA 9.7.9 (data movement), 9.7.12 (control flow), 9.7.19 and 9.7.20, checked
against ptxas 13.
"""

from __future__ import annotations

from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.forms import form
from tileas_xdsl.target.isa.requirements import since
from tileas_xdsl.target.isa.tables.arithmetic.integer import BITS, INTEGERS

MOVED = (*BITS, *INTEGERS, "f32", "f64")
WINDOWS = ("const", "global", "local", "shared", "shared::cta", "shared::cluster", "param")
"""Spaces that have a window of generic addresses."""

POLICIES = tuple(
    f"L2::{policy}" for policy in ("evict_last", "evict_normal", "evict_first", "evict_unchanged")
)
SECONDARY_POLICIES = ("L2::evict_first", "L2::evict_unchanged")
_CLUSTER = since((7, 8), 90)
_ENTRY = since((8, 3))
_CACHE = since((7, 4), 80)
_QUAD = since((8, 3), 70)
"""Registers of 128 bits."""

MOVES = (
    form("mov.type", "d, a", type=("pred", *MOVED)),
    form("mov.type", "d, <a:b16*2>", type=("b32",)),
    form("mov.type", "<d:b16*2>, a", type=("b32",)),
    form("mov.type", "d, <a:b32*2>", type=("b64",)),
    form("mov.type", "<d:b32*2>, a", type=("b64",)),
    form("mov.type", "d, a", _QUAD, type=("b128",)),
    form("mov.type", "d, <a:b64*2>", _QUAD, type=("b128",)),
    form("mov.type", "<d:b64*2>, a", _QUAD, type=("b128",)),
    form("cvta{.to}.space.u64", "d, a", space=WINDOWS),
    form("cvta{.to}.space.u64", "d, a", _ENTRY, space=("param::entry",)),
    form("isspacep.space", "p:pred, a:b64", space=WINDOWS),
    form("isspacep.space", "p:pred, a:b64", _ENTRY, space=("param::entry",)),
    form("mapa{.space}.type", "d, a, b:u32", _CLUSTER,
         space=("shared::cluster",), type=("u32", "u64")),
    form("getctarank{.space}.type", "d:u32, a", _CLUSTER,
         space=("shared::cluster",), type=("u32", "u64")),
    form("prefetch.level", "[a]", level=("L1", "L2")),
    form("prefetch.space.level", "[a]", space=("global", "local"), level=("L1", "L2")),
    form("prefetch.space.level", "[a]", _CACHE, space=("global",),
         level=("L2::evict_last", "L2::evict_normal")),
    form("prefetch{.space}.tensormap", "[a]", since((8, 0), 90), space=("const",)),
    form("prefetchu.L1", "[a]"),
    form("discard{.global}.L2", "[a], 128", _CACHE),
    form("applypriority{.global}.L2::evict_normal", "[a], 128", _CACHE),
    form("createpolicy.fractional.primary{.secondary}.b64", "d", _CACHE,
         primary=POLICIES, secondary=SECONDARY_POLICIES),
    form("createpolicy.fractional.primary{.secondary}.b64", "d, 0f3F000000", _CACHE,
         primary=POLICIES, secondary=SECONDARY_POLICIES),
    form("createpolicy.range{.global}.primary{.secondary}.b64", "d, [a], b:u32, c:u32", _CACHE,
         primary=POLICIES, secondary=SECONDARY_POLICIES),
    form("createpolicy.cvt.L2.b64", "d, 0x14f0000000000000", _CACHE),
)  # fmt: skip

CONTROL = (
    form("bra{.uni}", "$L"),
    form("brx.idx{.uni}", "a:u32, $T", since((6, 0), 30)),
    form("call{.uni}", "..."),
    form("ret{.uni}"),
    form("exit"),
    form("trap"),
    form("brkpt"),
    form("pmevent", "7"),
    form("nanosleep.u32", "a", since((6, 3), 70)),
    form("griddepcontrol.action", "", since((7, 8), 90), action=("wait", "launch_dependents")),
    form("setmaxnreg.direction.sync.aligned.u32", "64", since((8, 0), 90, Feature.SETMAXNREG),
         direction=("inc", "dec")),
)  # fmt: skip

_STACK = since((7, 3), 52)

STACK = (
    form("stacksave.type", "d", _STACK, type=("u32", "u64")),
    form("stackrestore.type", "a", _STACK, type=("u32", "u64")),
    form("alloca.type", "d, a", _STACK, type=("u32", "u64")),
    form("alloca.type", "d, a, 16", _STACK, type=("u32", "u64")),
)

FORMS = (*MOVES, *CONTROL, *STACK)

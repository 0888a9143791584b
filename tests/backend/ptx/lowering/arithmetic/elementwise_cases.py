"""The cases: which operation there is on which element."""

from __future__ import annotations

from collections.abc import Iterator

from tests.backend.ptx.lowering.arithmetic.elementwise import (
    FLOATS,
    INTEGERS,
    Case,
    binary,
    conversion,
    unary,
)
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS

WRAPPING = ("addi", "subi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")
SHIFTS = ("shli", "shrui", "shrsi")
DIVISIONS = ("divui", "divsi", "remui", "remsi", "floordivsi", "ceildivsi", "ceildivui")
EXTENDED = ("addui_extended", "mulsi_extended", "mului_extended")
COUNTS = ("ctlz", "cttz", "ctpop", "absi")
ARITHMETIC = ("addf", "subf", "mulf", "divf", "minimumf", "maximumf", "minnumf", "maxnumf")
ROUNDINGS = ("floor", "ceil", "trunc", "round", "roundeven", "absf")
INTEGER_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
FLOAT_PREDICATES = (
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
    "ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true",
)  # fmt: skip
EXACT_IN_F8 = ("f16", "bf16", "f32", "f64")


def _integers() -> Iterator[Case]:
    for element in INTEGERS:
        yield from (binary(f"arith.{op}", element) for op in (*WRAPPING, *SHIFTS))
        yield from (binary(f"arith.{op}", element, nonzero=True) for op in DIVISIONS)
        yield from (unary(f"math.{op}", element) for op in COUNTS)
        yield from _extended(element)
        yield from _bits_of(element)
        for predicate in INTEGER_PREDICATES:
            body = f"%c = arith.cmpi {predicate}, %e0, %e1 : {element}\n"
            body += "%o = arith.extui %c : i1 to i8"
            yield Case(f"arith.cmpi {predicate} {element}", (element, element), "i8", body)
        selected = (
            f"%c = arith.cmpi slt, %e0, %e1 : {element}\n%o = arith.select %c, %e1, %e0 : {element}"
        )
        yield Case(f"arith.select {element}", (element, element), element, selected)


def _extended(element: str) -> Iterator[Case]:
    for op in EXTENDED:
        second = "i1" if op == "addui_extended" else element
        types = f"{element}, i1" if op == "addui_extended" else element
        for part, name in enumerate(("low", "high")):
            body = f"%a, %b = arith.{op} %e0, %e1 : {types}\n"
            if part == 0:
                body += f"%z = arith.constant 0 : {element}\n%o = arith.addi %a, %z : {element}"
            elif second == "i1":
                body += f"%o = arith.extui %b : i1 to {element}"
            else:
                body += f"%z = arith.constant 0 : {element}\n%o = arith.addi %b, %z : {element}"
            yield Case(f"arith.{op} {name} {element}", (element, element), element, body)


def _bits_of(element: str) -> Iterator[Case]:
    """Single bits: cut from integers, computed with, and extended again."""
    cut = f"%a = arith.trunci %e0 : {element} to i1\n%b = arith.trunci %e1 : {element} to i1\n"
    for extend in ("extui", "extsi"):
        body = f"{cut}%c = arith.xori %a, %b : i1\n%o = arith.{extend} %c : i1 to {element}"
        yield Case(f"arith.{extend} i1 {element}", (element, element), element, body)


def _single_bits() -> Iterator[Case]:
    cut = "%a = arith.trunci %e0 : i8 to i1\n%b = arith.trunci %e1 : i8 to i1\n"
    for op in WRAPPING:
        body = f"{cut}%c = arith.{op} %a, %b : i1\n%o = arith.extui %c : i1 to i8"
        yield Case(f"arith.{op} i1", ("i8", "i8"), "i8", body)
    for predicate in INTEGER_PREDICATES:
        body = f"{cut}%c = arith.cmpi {predicate}, %a, %b : i1\n%o = arith.extui %c : i1 to i8"
        yield Case(f"arith.cmpi {predicate} i1", ("i8", "i8"), "i8", body)
    body = f"{cut}%c, %d = arith.addui_extended %a, %b : i1, i1\n%o = arith.extui %d : i1 to i8"
    yield Case("arith.addui_extended i1", ("i8", "i8"), "i8", body)
    body = f"{cut}%c = arith.select %a, %b, %a : i1\n%o = arith.extui %c : i1 to i8"
    yield Case("arith.select i1", ("i8", "i8"), "i8", body)


def _floats() -> Iterator[Case]:
    for element in FLOATS:
        yield from (binary(f"arith.{op}", element) for op in ARITHMETIC)
        yield unary("arith.negf", element)
        yield from (unary(f"math.{op}", element) for op in ROUNDINGS)
        yield binary("math.copysign", element)
        for predicate in FLOAT_PREDICATES:
            body = f"%c = arith.cmpf {predicate}, %e0, %e1 : {element}\n"
            body += "%o = arith.extui %c : i1 to i8"
            yield Case(f"arith.cmpf {predicate} {element}", (element, element), "i8", body)
        selected = (
            f"%c = arith.cmpf olt, %e0, %e1 : {element}\n%o = arith.select %c, %e1, %e0 : {element}"
        )
        yield Case(f"arith.select {element}", (element, element), element, selected)
    for element in ("f16", "bf16", "f32", "f64"):
        body = f"%o = math.fma %e0, %e1, %e2 : {element}"
        yield Case(f"math.fma {element}", (element,) * 3, element, body, vectors=True)
        yield unary("math.sqrt", element)
        yield unary("math.rsqrt", element, ulp=2)


def _functions() -> Iterator[Case]:
    for name, function in MATH_FUNCTIONS.items():
        for element in ("f32", "f16", "bf16"):
            # numpy's own f32 functions are some units off too.
            ulp = function.bound + 4 if element == "f32" else 1
            if name in ("sqrt", "rsqrt"):
                continue
            if name == "fpowi":
                body = f"%o = math.fpowi %e0, %e1 : {element}, i32"
                yield Case(f"math.fpowi {element}", (element, "i32"), element, body, ulp=ulp)
            elif name in ("powf", "atan2"):
                yield binary(f"math.{name}", element, ulp=ulp)
            else:
                yield unary(f"math.{name}", element, ulp=ulp)
    for element in INTEGERS:
        # A negative power of zero is none.
        body = (
            f"%m = arith.constant 31 : {element}\n%n = arith.andi %e1, %m : {element}\n"
            f"%o = math.ipowi %e0, %n : {element}"
        )
        yield Case(f"math.ipowi {element}", (element, element), element, body)
        body = (
            f"%m = arith.constant 3 : {element}\n%n = arith.ori %e0, %m : {element}\n"
            f"%o = math.ipowi %n, %e1 : {element}"
        )
        yield Case(f"math.ipowi of odd {element}", (element, element), element, body)


def _conversions() -> Iterator[Case]:
    for narrow, wide in ((a, b) for k, a in enumerate(INTEGERS) for b in INTEGERS[k + 1 :]):
        yield conversion("arith.extsi", narrow, wide)
        yield conversion("arith.extui", narrow, wide)
        yield conversion("arith.trunci", wide, narrow)
    for integer in INTEGERS:
        for real in FLOATS:
            yield conversion("arith.sitofp", integer, real)
            yield conversion("arith.uitofp", integer, real)
            yield conversion("arith.fptosi", real, integer)
            yield conversion("arith.fptoui", real, integer)
    for narrow, wides in (
        ("f8E4M3FN", EXACT_IN_F8),
        ("f8E5M2", EXACT_IN_F8),
        ("f16", ("f32", "f64")),
        ("bf16", ("f32", "f64")),
        ("f32", ("f64",)),
    ):
        for wide in wides:
            yield conversion("arith.extf", narrow, wide, vectors=True)
            yield conversion("arith.truncf", wide, narrow, vectors=True)
    for one, other in (
        ("i8", "f8E4M3FN"), ("i8", "f8E5M2"), ("f8E4M3FN", "f8E5M2"), ("i16", "f16"),
        ("i16", "bf16"), ("f16", "bf16"), ("i32", "f32"), ("i64", "f64"),
    ):  # fmt: skip
        yield conversion("arith.bitcast", one, other, vectors=True)
        yield conversion("arith.bitcast", other, one, vectors=True)


def _roundings() -> Iterator[Case]:
    """Conversions of floats otherwise than to nearest even."""
    for source in ("f32", "f64"):
        for target in ("f16", "bf16"):
            for rounding in ("rz", "rm", "rp", "rna"):
                yield _rounded("truncf", source, target, rounding)
        for rounding in ("rn", "rz", "rna"):
            body = (
                f'%a = arith.truncf %e0 {{nv_tileas.rounding = "{rounding}"}} : {source} to tf32\n'
                "%o = arith.extf %a : tf32 to f32"
            )
            yield Case(f"arith.truncf {rounding} {source} tf32", (source,), "f32", body)
    for rounding in ("rz", "rm", "rp"):
        yield _rounded("truncf", "f64", "f32", rounding)
    for rounding in ("rz", "rp"):
        for source in ("bf16", "f32", "f64"):
            yield _rounded("truncf", source, "f8E8M0FNU", rounding)
    for target in ("bf16", "f32", "f64"):
        yield conversion("arith.extf", "f8E8M0FNU", target, vectors=True)
    yield _rounded("extf", "f8E8M0FNU", "f16", "rp")


def _rounded(op: str, source: str, target: str, rounding: str) -> Case:
    body = f'%o = arith.{op} %e0 {{nv_tileas.rounding = "{rounding}"}} : {source} to {target}'
    return Case(f"arith.{op} {rounding} {source} {target}", (source,), target, body, vectors=True)


def _bits_and_floats() -> Iterator[Case]:
    """Single bits to and from floats."""
    for real in FLOATS:
        for op in ("uitofp", "sitofp"):
            body = f"%a = arith.trunci %e0 : i8 to i1\n%o = arith.{op} %a : i1 to {real}"
            yield Case(f"arith.{op} i1 {real}", ("i8",), real, body)
        for op in ("fptoui", "fptosi"):
            body = f"%a = arith.{op} %e0 : {real} to i1\n%o = arith.extui %a : i1 to i8"
            yield Case(f"arith.{op} {real} i1", (real,), "i8", body)


def _modes() -> Iterator[Case]:
    """Roundings in a direction, flushed subnormal numbers, saturated results."""
    for rounding in ("rn", "rz", "rm", "rp"):
        said = f'{{nv_tileas.rounding = "{rounding}"}}'
        for element in ("f32", "f64"):
            for op in ("addf", "subf", "mulf", "divf"):
                yield binary(f"arith.{op}", element, said=said)
            yield unary("math.sqrt", element, said=said)
            body = f"%o = math.fma %e0, %e1, %e2 {said} : {element}"
            yield Case(f"math.fma {said} {element}", (element,) * 3, element, body, vectors=True)
    for op in ARITHMETIC:
        yield binary(f"arith.{op}", "f32", said="{nv_tileas.ftz}")
    for op in ("addf", "subf", "mulf"):
        yield binary(f"arith.{op}", "f32", said="{nv_tileas.sat}")
        said = '{nv_tileas.ftz, nv_tileas.rounding = "rp", nv_tileas.sat}'
        yield binary(f"arith.{op}", "f32", said=said)
    yield unary("math.sqrt", "f32", said="{nv_tileas.ftz}")


CASES = (
    *_modes(),
    *_integers(),
    *_single_bits(),
    *_floats(),
    *_functions(),
    *_conversions(),
    *_roundings(),
    *_bits_and_floats(),
)

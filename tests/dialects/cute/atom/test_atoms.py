"""Properties of every atom, tested on types that this file defines."""

from __future__ import annotations

import re

import pytest
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp

from tests.dialects.cute.atom.cute_atoms import MmaAtom, parse_with_atoms
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.cute.atom.calls import MakeAtomOp
from tileas_xdsl.installed import registered_context
from tileas_xdsl.transforms.conversion.cute_desugar import CuteDesugar

COPY = "!test_cute.copy<#builtin.int<{}>>"
MMA = "!test_cute.mma"


def first_error(text: str) -> str:
    """Return the first error of a program, without its location."""
    with pytest.raises(DiagnosticError) as caught:
        verify(text)
    return caught.value.diagnostics[0].headline.split("error: ", 1)[1]


def copy_program(
    src: str,
    dst: str,
    *,
    bits: int = 16,
    pred: str | None = None,
    op: str = "cute.copy",
    target: str = "",
) -> str:
    atom = COPY.format(bits)
    more = f", %p: {pred}" if pred else ""
    used, type_ = (", %p", f", {pred}") if pred else ("", "")
    sizes = f"array<i32: 1, 1, 1, {int(bool(pred))}>"
    return f"""
    func.func @f(%a: {atom}, %s: {src}, %d: {dst}{more}) {target} {{
      {op}(%a, %s, %d{used}) <{{operandSegmentSizes = {sizes}}}>
        : ({atom}, {src}, {dst}{type_}) -> ()
      func.return
    }}"""


def view(layout: str, element: str = "f16", space: str = "gmem", more: str = "") -> str:
    return f'!cute.memref<{element}, {space}{more}, "{layout}">'


PRED = "(8,4):(1,8)"
COPIES = {
    "'!test_cute.copy<#builtin.int<16>>' src and dst need to have the same element size": (
        view("(8,4):(1,8)"),
        view("(8,4):(1,8)", "f32", "smem"),
        None,
    ),
    "the destination is in smem or rmem for this atom, but got gmem": (
        view("(8,4):(1,8)"),
        view("(8,4):(1,8)"),
        None,
    ),
    "expects src and dst to have static shape": (
        view("(?,4):(1,8)"),
        view("(8,4):(1,8)", space="smem"),
        None,
    ),
    "`src.rank() = 2` != `dst.rank() = 3`": (
        view("(8,4):(1,8)"),
        view("(8,4,1):(1,8,0)", space="smem"),
        None,
    ),
    "expects same size in rank 1 but got srcShape: (8,4) and dstShape: (8,2)": (
        view("(8,4):(1,8)"),
        view("(8,2):(1,8)", space="smem"),
        None,
    ),
    "expects same size in restAtomVRank, but got srcShape: ((8,3),4) and dstShape: ((8,2),4)": (
        view("((8,3),4):((1,8),24)"),
        view("((8,2),4):((1,8),16)", space="smem"),
        None,
    ),
    "expects pred to be CuteMemRefType": (
        view("(8,4):(1,8)"),
        view("(8,4):(1,8)", space="smem"),
        "i1",
    ),
    "`pred rank = 3` != `src rank = 2`": (
        view("(8,4):(1,8)"),
        view("(8,4):(1,8)", space="smem"),
        view("(8,4,1):(1,8,0)", "i1", "rmem"),
    ),
    "expects pred's address space to be rmem/smem/gmem/generic": (
        view("(8,4):(1,8)"),
        view("(8,4):(1,8)", space="smem"),
        view(PRED, "i8", "tmem"),
    ),
    "expects identity swizzle on pred tensor, but got: S<3,4,3>.": (
        view("(8,4):(1,8)"),
        view("(8,4):(1,8)", space="smem"),
        view(PRED, "i8", "smem", ", S<3,4,3>"),
    ),
    "expects pred to have static shape": (
        view("(8,4):(1,8)"),
        view("(8,4):(1,8)", space="smem"),
        view("(?,4):(1,8)", "i1", "rmem"),
    ),
    "expects pred to have compatible shape with: (8,4) but got actual predShape: (1,4)": (
        view("(8,4):(1,8)"),
        view("(8,4):(1,8)", space="smem"),
        view("(1,4):(1,1)", "i1", "rmem"),
    ),
}


@pytest.mark.parametrize("text", COPIES)
def test_copies_of_views(text: str) -> None:
    src, dst, pred = COPIES[text]
    assert first_error(copy_program(src, dst, pred=pred)) == f"'cute.copy' op {text}"


def test_elements_with_predicates_are_copied_one_by_one() -> None:
    views = view("(8,4):(1,8)"), view("(8,4):(1,8)", space="smem")
    wide = copy_program(*views, bits=128, pred=view(PRED, "i1", "rmem"))
    assert first_error(wide).endswith("expects copy_bits to be : 16 but got : 128")
    verify(copy_program(*views, pred=view(PRED, "i1", "rmem")))


def verify(text: str) -> None:
    module = parse_with_atoms(text)
    assert isinstance(module, ModuleOp)
    verify_module(module)


def test_one_copy_is_of_one_mode_and_as_large_as_the_atom() -> None:
    call = "cute.copy_atom_call"
    src, dst = view("8:1"), view("8:1", space="smem")
    verify(copy_program(src, dst, bits=128, op=call))
    flat = copy_program(view("(8,4):(1,8)"), dst, bits=128, op=call)
    assert "expects rank-1 layout for src[0], but got '(8,4):(1,8)'" in first_error(flat)
    small = first_error(copy_program(src, dst, bits=64, op=call))
    assert re.search("copies 64 bits at once, but .* has 128", small)
    unknown = copy_program(view("?:1"), dst, bits=128, op=call)
    assert "expects src and dst to have static shape" in first_error(unknown)


def test_the_target_is_asked_of_the_type() -> None:
    views = view("8:1"), view("8:1", space="smem")
    for target, has in (("sm_90", True), ("sm_120", True), ("sm_80", False), ("sm_90a", True)):
        text = copy_program(
            *views,
            bits=128,
            op="cute.copy_atom_call",
            target=f'attributes {{"cute.target" = "{target}"}}',
        )
        if has:
            verify(text)
            continue
        assert f"needs sm_90 or sm_100a, but the target is {target}" in first_error(text)


def test_an_atom_takes_the_values_that_its_type_says() -> None:
    atom = COPY.format(16)

    def made(values: str, types: str, result: str = atom) -> str:
        return f"""
        func.func @f(%m: i32, %h: i1) {{
          %a = cute.make_atom({values}) : ({types}) -> {result}
          func.return
        }}"""

    verify(made("%m", "i32"))
    verify(made("%m, %h", "i32, i1"))
    assert "of the mask, the hint, but got 0 values" in first_error(made("", ""))
    assert "takes i32 as the mask, but got i1" in first_error(made("%h", "i1"))
    assert "does not implement the interface of atoms" in first_error(made("%m", "i32", "i32"))


def mma_program(d: str, a: str, b: str, c: str, op: str = "cute.gemm", extra: bool = False) -> str:
    more = f", {a}" if extra else ""
    return f"""
    func.func @f(%m: {MMA}, %d: {d}, %a: {a}, %b: {b}, %c: {c}) {{
      {op}(%m, %d, %a{", %a" if extra else ""}, %b, %c)
        <{{operandSegmentSizes = array<i32: 1, 1, {1 + extra}, 1, 1>}}>
        : ({MMA}, {d}, {a}{more}, {b}, {c}) -> ()
      func.return
    }}"""


def rank(n: int, element: str = "f16", extents: tuple[int, ...] = (8, 2, 4)) -> str:
    shape = ",".join(map(str, extents[:n]))
    stride = ",".join(["1", "8", "16"][:n])
    return view(f"({shape}):({stride})", element, "rmem")


GEMMS = {
    "expects A, B to have the same rank, but got A: 3, B: 2": (3, 3, 2, 3),
    "expects C, D to have the same rank, but got C: 3, D: 2": (2, 2, 2, 3),
    "expects C to have rank 1 or 2, but got C: 3": (3, 1, 1, 3),
    "expects C to have rank 2 or 3, but got C: 1": (1, 2, 2, 1),
    "expects C to have rank 3, but got C: 2": (2, 3, 3, 2),
}


@pytest.mark.parametrize("text", GEMMS)
def test_ranks_of_products(text: str) -> None:
    d, a, b, c = (rank(n) for n in GEMMS[text])
    assert first_error(mma_program(d, a, b, c)) == f"'cute.gemm' op {text}"


def test_sizes_and_layouts_of_products() -> None:
    a, b = rank(3), rank(3, extents=(8, 4, 4))
    fits = view("(8,2,4):(1,8,16)", "f32", "rmem")
    verify(mma_program(fits, a, b, fits))
    wrong = view("(8,4,4):(1,8,16)", "f32", "rmem")
    assert first_error(mma_program(wrong, a, b, wrong)).endswith(
        "expects A's M == D'M and B's N == D'N"
    )
    composed = view("S<1,0,1> o 0 o (8,2,4):(1,8,16)", "f16", "rmem")
    error = first_error(mma_program(fits, composed, b, fits))
    expected = (
        f"doesn't support composed layout for A/B/D, but got: A: {composed}, B: {b}, D:{fits}"
    )
    assert error == f"'cute.gemm' op {expected}"


def test_one_product_is_of_one_mode_in_registers() -> None:
    def one(layout: str = "8:1", space: str = "rmem", element: str = "f16") -> str:
        return view(layout, element, space)

    call = "cute.mma_atom_call"
    verify(
        mma_program(one("4:1", element="f32"), one(), one("4:1"), one("4:1", element="f32"), call)
    )
    ranked = mma_program(one(), one("(8,2):(1,8)"), one(), one(), call)
    assert "expects rank-1 layout for a[0], but got '(8,2):(1,8)'" in first_error(ranked)
    placed = mma_program(one(), one(), one(space="smem"), one(), call)
    assert "B is in rmem for this atom, but got smem" in first_error(placed)
    assert "has no scale factors" in first_error(
        mma_program(one(), one(), one(), one(), call, extra=True)
    )


def test_a_prefetch_needs_an_atom_that_the_target_has() -> None:
    text = f"""
    func.func @f(%a: !test_cute.prefetch, %s: {view("8:1")})
        attributes {{"cute.target" = "sm_90a"}} {{
      cute.prefetch(%a, %s) : (!test_cute.prefetch, {view("8:1")}) -> ()
      func.return
    }}"""
    assert "needs sm_100a, but the target is sm_90a: !test_cute.prefetch" in first_error(text)
    verify(text.replace("sm_90a", "sm_100a"))
    other = text.replace("!test_cute.prefetch", COPY.format(16)).replace("sm_90a", "sm_100a")
    assert "expects a prefetch atom" in first_error(other)


def test_desugaring_writes_what_the_type_says_of_an_atom() -> None:
    module = parse_with_atoms(
        f"""
        func.func @f(%m: i32) -> ({MMA}, {COPY.format(128)}) {{
          %a = cute.make_atom() : () -> {MMA}
          %b = cute.make_atom(%m) : (i32) -> {COPY.format(128)}
          func.return %a, %b : {MMA}, {COPY.format(128)}
        }}"""
    )
    assert isinstance(module, ModuleOp)
    CuteDesugar().apply(registered_context(), module)
    made = [op for op in module.walk() if isinstance(op, MakeAtomOp)]
    facts = {str(op.result.type): op.atom for op in made}
    assert facts[MMA] == DictionaryAttr(dict(MmaAtom().attributes))
    assert "copy_bits" in str(facts[COPY.format(128)])

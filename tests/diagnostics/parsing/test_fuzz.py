"""Hostile input gives located errors and nothing else."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_errors

RELAXED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])

VALID = """\
#map = affine_map<(d0, d1) -> (d0 + d1 * 4)>
!alias = memref<4x?xf32, strided<[1, 2], offset: 3>>
func.func @f(%a: i32, %m: !alias, %c: i1) -> (i32, vector<2x3xf16>) {
  %0:2 = "test.op"(%a) <{prop1 = dense<[1]> : tensor<1xi64>}> {x = 1.5e3 : f32} : (i32) -> (i32, i1)
  %v = arith.constant dense<0.0> : vector<2x3xf16>
  cf.cond_br %c, ^bb1(%a : i32), ^bb2
^bb1(%b: i32):
  %2 = scf.if %c -> (i32) {
    scf.yield %0#0 : i32
  } else {
    scf.yield %b : i32
  } loc("x.py":1:2)
  func.return %2, %v : i32, vector<2x3xf16>
^bb2:
  %i = arith.constant 0x7F : index
  %l = "memref.load"(%m, %i, %i) : (!alias, index, index) -> f32
  func.return %a, %v : i32, vector<2x3xf16>
}
"""

TOKENS = [
    *"(){}[]<>:,=#!@%^-+*?|\"\\/",
    "%0", "%a", "^bb1", "#map", "!alias", "loc(", "->", "dense<", "0x", "9" * 4400, "1e999", "-1",
    "func.func", "arith.addi", '"test.op"', "i32", "i0", "i99999999999", "vector<", "tensor<*x",
    "affine_map<", "\x00", "\ud7ff", "\U0001f600", "\t", "\r", "\n", "// -----", "{-#", "#-}",
]  # fmt: skip


def parse_and_verify(ctx, source: str | bytes) -> None:
    """Parse and verify: only `DiagnosticError` may be raised, with locations."""
    try:
        module = parse_module(ctx, source, "fuzz.mlir")
    except DiagnosticError as error:
        reports = error.diagnostics
    else:
        reports = verify_errors(module)
    for report in reports:
        assert report.location is not None
        assert report.location.file in ("fuzz.mlir", "x.py")
        assert "internal error" not in report.message


def test_the_seed_of_the_mutations_is_valid(ctx):
    assert not verify_errors(parse_module(ctx, VALID))


@RELAXED
@given(st.text(max_size=80))
def test_text(ctx, text: str):
    parse_and_verify(ctx, text)


@RELAXED
@given(st.binary(max_size=80))
def test_bytes(ctx, data: bytes):
    parse_and_verify(ctx, data)


@RELAXED
@given(st.lists(st.sampled_from(TOKENS), max_size=20).map(" ".join))
def test_tokens(ctx, text: str):
    parse_and_verify(ctx, text)


@RELAXED
@given(st.integers(0, 2**32))
def test_mutations_of_a_valid_module(ctx, seed: int):
    rng = random.Random(seed)
    text = VALID
    for _ in range(rng.randrange(1, 4)):
        start = rng.randrange(len(text))
        end = start + rng.choice([0, 1, 1, 2, 5, 40])
        piece = rng.choice([*TOKENS, "", "", text[rng.randrange(len(text)) :][:20]])
        text = text[:start] + piece + text[end:]
    parse_and_verify(ctx, text)


@RELAXED
@given(st.integers(0, 2**32))
def test_mutations_of_bytes(ctx, seed: int):
    rng = random.Random(seed)
    data = bytearray(VALID.encode())
    for _ in range(rng.randrange(1, 5)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    parse_and_verify(ctx, bytes(data))


@pytest.mark.parametrize("depth", [50, 400, 5000])
@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ('"test.op"() ({\n', "}) : () -> ()\n"),
        ('"test.op"() {a = ' + "[", "]} : () -> ()"),
        ("func.func @f(%a: tuple<", ">)"),
        ("#a = affine_map<(d) -> (", "d)>"),
        ('"test.op"() : () -> () loc(callsite(', ")"),
    ],
)
def test_nesting(ctx, opening: str, closing: str, depth: int):
    parse_and_verify(ctx, opening * depth + closing * depth)


@pytest.mark.parametrize("opening", ["[", "(", "{", "<", "tuple<", "[[", "-", "affine_map<("])
def test_nested_attributes(ctx, opening: str):
    parse_and_verify(ctx, '"test.op"() {a = ' + opening * 3000)


def test_a_missing_quote_does_not_take_forever(ctx):
    """xDSL's own lexer needs exponential time here."""
    with pytest.raises(DiagnosticError, match="closing string literal"):
        parse_module(ctx, '"test.op"() {a = "' + "never closed " * 200 + "\n")

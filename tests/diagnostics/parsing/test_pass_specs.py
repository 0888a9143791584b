"""`-p` and `-t`: what is wrong with them, and what to type instead."""

from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline

from tileas_xdsl.diagnostics.parsing.pass_specs import UsageError, check_target, parse_passes


@dataclass(frozen=True)
class Slicing(ModulePass):
    name = "slicing"
    stages: int = 3
    arch: str | None = None

    def apply(self, ctx, op) -> None: ...


@dataclass(frozen=True)
class Picky(ModulePass):
    name = "picky"
    size: int

    def __post_init__(self) -> None:
        if self.size < 0:
            raise ValueError("size must not be negative")

    def apply(self, ctx, op) -> None: ...


@dataclass(frozen=True)
class Named:
    passes: tuple[ArgSpec, ...]


def missing():
    raise ImportError("No module named 'llvmlite'")


PASSES = {"slicing": lambda: Slicing, "picky": lambda: Picky, "missing": missing}
PIPELINES = {"gemm": Named(tuple(parse_pipeline("slicing{stages=4},picky{size=1}")))}


def passes(text: str):
    return parse_passes(text, PASSES, PIPELINES)


def test_lists_of_passes():
    assert passes("slicing{stages=2 arch=sm_90a},slicing") == (Slicing(2, "sm_90a"), Slicing())
    assert passes("") == ()


def test_the_name_of_a_pipeline_stands_for_its_passes():
    assert passes("gemm") == (Slicing(4), Picky(1))
    assert passes("slicing,gemm,slicing") == (Slicing(), Slicing(4), Picky(1), Slicing())


def test_blanks_and_newlines_around_commas():
    spaced = " slicing{stages=2 arch=sm_90a} ,\n  gemm,\tslicing \n"
    assert passes(spaced) == (Slicing(2, "sm_90a"), Slicing(4), Picky(1), Slicing())
    assert passes('slicing{arch="a , b"}') == (Slicing(arch="a , b"),)


def test_passes_nested_in_operations_as_mlir_has_them():
    nested = (
        "builtin.module(cuda_tile.module(cuda_tile.entry(slicing{stages=2 arch=x},gemm)),slicing)"
    )
    assert passes(nested) == passes("slicing{stages=2 arch=x},gemm,slicing")
    for wrong, message in (("a(slicing", "'\\)' is missing"), ("a(slicing))", "without '\\('")):
        with pytest.raises(UsageError, match=message):
            passes(wrong)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("slicin", "unknown pass 'slicin'; did you mean slicing?"),
        ("gem", "unknown pass 'gem'; did you mean gemm?"),
        ("zzz", "unknown pass 'zzz'; 'tileas passes' lists every pass"),
        ("gemm{stages=2}", "pipeline 'gemm' has no option 'stages'; it takes no options"),
        (
            "slicing{stage=2}",
            "pass 'slicing' has no option 'stage'; its options are stages (int), arch (str|None)",
        ),
        (
            "slicing{stages=two}",
            "pass 'slicing': 'two' is no int; its options are stages (int), arch (str|None)",
        ),
        ("picky", "pass 'picky': picky requires argument \"size\"; its options are size (int)"),
        (
            "picky{size=-1}",
            "pass 'picky': size must not be negative; its options are size (int)",
        ),
        ("missing", "pass 'missing' cannot be loaded: No module named 'llvmlite'"),
        ("slicing{", "Expected argument name here at character 9 of 'slicing{'"),
        ("slicing;", "Unknown token at character 8 of 'slicing;'"),
    ],
)
def test_mistakes_are_explained_in_one_line(text, message):
    with pytest.raises(UsageError) as caught:
        passes(text)
    assert str(caught.value) == message


@given(st.text(alphabet='slicngpky{}=," \\[]0123-._é\n\t', max_size=30) | st.text(max_size=10))
@example("slicing{stages=")
@example('slicing{arch="')
@example("slicing[x]")
@example("mlir-opt[")
@example("slicing{stages=" + "9" * 5000 + "}")
def test_any_text_is_passes_or_a_usage_error(text: str):
    try:
        passes(text)
    except UsageError as error:
        assert str(error)


def test_targets():
    from xdsl.targets.mlir import MLIRTarget

    targets = {"mlir": lambda: MLIRTarget, "old": lambda module, output: None}
    check_target("mlir", targets)
    check_target("mlir{print_debuginfo=true}", targets)
    check_target("old", targets)
    for wrong in ("mlri", "mlir{", "mlir{x=1}", "", "mlir{print_debuginfo=3}"):
        with pytest.raises(UsageError):
            check_target(wrong, targets)

"""The target as an attribute of the module: producers, consumers, and its textual form."""

from __future__ import annotations

import pytest

from kernels.gemm import Gemm
from kernels.tl import Softmax
from kernels.vector_add import VectorAdd
from tests.support.ir import parse
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.dialects.target_attribute import module_target, target_of

TARGETS = ("sm_90a", "sm_100a")


def _code(kernel: CompiledKernel) -> str:
    """Return the PTX without source location lines."""
    return ptx_text(kernel.module, locations=False)


@pytest.mark.sample(2)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kernel", [VectorAdd(), Gemm(bm=64, bn=64, bk=64, consumers=1), Softmax()])
def test_each_stage_read_back_goes_on_to_the_same_ptx(kernel, target: str) -> None:
    """The text of a stage names the target, so that nothing else has to."""
    if isinstance(kernel, Gemm):
        target = kernel.target
    made = compile(kernel.text(), target)
    names = [spec.name for spec in made.passes]
    before_ptx = len(names) - 1
    for position in range(0, before_ptx, 3):
        text = made.ir(names[position])
        assert f'nv_tileas.target = "{target}"' in text
        again = compile(text, passes=made.passes[position + 1 :])
        assert (again.target, _code(again)) == (target, _code(made)), names[position]


@pytest.mark.parametrize(
    ("attributes", "target"),
    [
        ("", "sm_90a"),
        ('nv_tileas.target = "sm_100a"', "sm_100a"),
        ('cute.target = "sm_100a"', "sm_100a"),
        ('nv_tileaa.target_spec = "sm_100"', "sm_100a"),
        ("nv_tileaa.compute_capability = 100 : i32", "sm_100a"),
        ('nv_tileaa.compute_capability = 90 : i32, nv_tileaa.target_spec = "sm_90a"', "sm_90a"),
    ],
)
def test_other_attributes_name_it_too(attributes: str, target: str) -> None:
    on_module = parse(f"builtin.module attributes {{{attributes}}} {{}}")
    on_kernel = parse(f"func.func @f() attributes {{{attributes}}} {{ func.return }}")
    assert module_target(on_module).name == module_target(on_kernel).name == target


def test_the_nearest_operation_decides_for_what_is_inside() -> None:
    module = parse('func.func @f() attributes {cute.target = "sm_103f"} { func.return }')
    assert [target_of(op) for op in module.walk()] == [None, "sm_103f", "sm_103f"]


def test_the_module_says_it_where_nobody_else_does() -> None:
    text = VectorAdd().text()
    named = parse(text)
    named.attributes.update(
        parse('builtin.module attributes {cute.target = "sm_100a"} {}').attributes
    )
    assert _code(compile(named)) == _code(compile(text, "sm_100a"))
    with pytest.raises(DiagnosticError, match="asks for sm_90a, but the module is for sm_100a"):
        compile(named, "sm_90a")


def test_what_is_no_target_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown target 'sm_80'"):
        module_target(parse(""), "sm_80")
    with pytest.raises(ValueError, match="unknown target 'gpu'"):
        module_target(parse('builtin.module attributes {nv_tileas.target = "gpu"} {}'))


@pytest.mark.parametrize("name", ["sm_77", "Hopper"])
@pytest.mark.parametrize("kernel_has", ["sm_90a", None])
def test_names_of_no_target_are_errors_where_they_are_written(
    name: str, kernel_has: str | None
) -> None:
    own = f'attributes {{nv_tileaa.target_spec = "{kernel_has}"}}' if kernel_has else ""
    text = f'builtin.module attributes {{nv_tileas.target = "{name}"}} {{\n'
    text += f"  func.func @f() {own} {{ func.return }}\n}}"
    with pytest.raises(DiagnosticError, match=rf"^\S+:[12]:\d+: error: .*{name}"):
        compile(text)

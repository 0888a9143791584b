"""Forms of a kernel: each is compiled once, also where another one stands for it."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile import matmul as products
from tileas_xdsl.compiler import compile
from tileas_xdsl.runtime.kernel_forms import KernelForms
from tileas_xdsl.target.kernel_abi import KernelAbi
from tileas_xdsl.target.launches.launch_forms import ChooseForm, Question, usual_form

HALVES = "f16[?, ?%8]"
MATMUL: Any = vars(products)["matmul"]
ABI = compile(
    MATMUL,
    signature=f"a: {HALVES}, b: {HALVES}, c: {HALVES}, tm=128, tn=256, tk=64",
    target="sm_90a",
).abi


def few(question: Question) -> bool:
    """The launch has few tile blocks."""
    return question is ABI.few_tile_blocks[0]


@dataclass(frozen=True)
class Code:
    abi: KernelAbi


def asked(forms: KernelForms[Code], choose: ChooseForm, made: KernelAbi, log: list[Any]) -> Code:
    def compile() -> Code:
        log.append(choose)
        return Code(made)

    return forms.chosen(choose, compile)


def test_a_form_is_compiled_once() -> None:
    log: list[Any] = []
    forms = KernelForms([Code(ABI)])
    divided = replace(ABI, tile_block_ctas=ABI.few_tile_blocks[0].count)
    assert asked(forms, usual_form, ABI, log).abi is ABI
    for _ in range(2):
        assert asked(forms, few, divided, log).abi is divided
    assert log == [few]


def test_a_form_that_cannot_be_made_is_asked_for_once() -> None:
    log: list[Any] = []
    forms: KernelForms[Code] = KernelForms()
    for _ in range(3):
        assert asked(forms, few, ABI, log).abi is ABI
    assert log == [few]
    assert asked(forms, usual_form, ABI, log).abi is ABI
    assert log == [few]


class Asked:
    """A launcher that counts what it is asked."""

    device = SimpleNamespace(number=0)

    def __init__(self) -> None:
        self.questions = 0

    def suits(self, question: Question, *, args: Any, grid: Any) -> bool:
        self.questions += 1
        return usual_form(question)


def test_launches_alike_ask_once() -> None:
    """A launch of `CompiledKernel` is of the form of the one before with its extents and grid."""
    a, b, c = (np.zeros((256, 256), np.float16) for _ in "abc")
    kernel = compile(MATMUL, a, b, c, 128, 128, 64, target="sm_90a")
    launcher: Any = Asked()
    counts: list[int] = []
    for rows, grid in ((256, (2, 2, 1)), (256, (2, 2, 1)), (128, (1, 2, 1)), (256, (2, 2, 1))):
        kernel._form(launcher, (a[:rows], b, c[:rows], 128, 128, 64), grid)
        counts.append(launcher.questions)
    assert counts[0] > 0
    assert counts[1] == counts[0] < counts[2] == counts[3]

"""Tensors of torch on the emulator, and kernels as its operators; skipped without torch."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("cuda.tile")

import torch
from support.cutile_programs import add, increment

import tileas_xdsl as tileas
import tileas_xdsl.cutile
from tileas_xdsl.runtime.cutile.native import relaunch


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_tensors_are_written_in_place(name: str) -> None:
    dtype = getattr(torch, name)
    a, b = (torch.randn(128).to(dtype) for _ in range(2))
    c = torch.zeros(128, dtype=dtype)
    tileas.launch(None, (4,), add, (a, b, c, 32))
    assert torch.equal(c, a + b)


def test_gradients_and_inference_mode_are_no_hindrance() -> None:
    x = torch.zeros(64, requires_grad=True)
    tileas.launch(None, (1,), increment, (x, 64, 1.5))
    with torch.inference_mode():
        tileas.launch(None, (1,), increment, (x, 64, 1.5))
        y = torch.ones(64)
        tileas.launch(None, (1,), increment, (y, 64, 1.5))
    assert (x == 3).all()
    assert (y == 2.5).all()


def test_a_kernel_is_an_operator() -> None:
    @tileas_xdsl.cutile.custom_op("tileas_tests::add", outputs=lambda a, b: torch.empty_like(a))
    def sum_of(a: torch.Tensor, b: torch.Tensor, out: torch.Tensor) -> None:
        tileas.launch(None, (2,), add, (a, b, out, 32))

    a, b = torch.randn(64), torch.randn(64)
    assert torch.equal(sum_of(a, b), a + b)
    torch.library.opcheck(sum_of, (a, b), test_utils=("test_schema", "test_faketensor"))


def test_an_operator_needs_a_parameter_for_each_output() -> None:
    with pytest.raises(TypeError, match="'nothing' has 1 parameters; outputs follow its 1 inputs"):

        @tileas_xdsl.cutile.custom_op(
            "tileas_tests::nothing", outputs=lambda a: torch.empty_like(a)
        )
        def nothing(a: torch.Tensor) -> None:
            del a


def test_c_reads_tensors_and_parameters_but_not_tensors_without_memory() -> None:
    from torch._subclasses.fake_tensor import FakeTensor

    assert relaunch._exchange(torch.Tensor) is relaunch._exchange(torch.nn.Parameter) is not None
    assert relaunch._exchange(FakeTensor) is None

# pyright: basic
"""Errors of cuTile users: each located at the wrong line of Python, with the reason."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import tileas_xdsl as tileas
from tileas_xdsl.diagnostics.errors import DiagnosticError

pytest.importorskip("cuda.tile")

from support import cutile_kernels

from tests.frontend import wrong_kernels
from tileas_xdsl.frontend.needed_packages import MissingPackageError

X = np.zeros(256, np.float32)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("no_power_of_two", r"shape \(12,\) is not a power of two"),
        ("unknown_name", "'cuda.tile' has no attribute 'loadd'"),
        ("wrong_axis", "Axis 3 is out of range for rank 1"),
        ("too_large", "'nv_tileas.tiled_load' op .* takes 2048 registers of a thread"),
        ("product_of_many_sums", "'nv_tileas.dot' op .* takes 512 registers of a thread"),
        ("prints_text", "Specifier s in %s is not supported"),
        ("in_a_helper", "Specifier s in %s is not supported"),
        ("function_without_a_name", r"cuda.tile fails on this \(AssertionError\)"),
        (
            "assigned_behind_its_use",
            r"cuda.tile fails on this \(KeyError: 'carried.0'\)",
        ),
    ],
)
def test_what_is_wrong_is_told_where_it_stands(name: str, why: str) -> None:
    kernel = getattr(wrong_kernels, name)
    with pytest.raises(DiagnosticError, match=why) as raised:
        _ = tileas.compile(kernel, X).ptx
    file, line = wrong_kernels.place_of(kernel)
    assert re.match(rf"{re.escape(file)}:{line}:\d+: error: ", str(raised.value))


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([X, X], "Kernel expects 3 arguments but 2 were given: a, b, c"),
        ([X, X, {}], "kernel argument #2: Objects of type 'dict' are not supported"),
        ([X, X, "c"], "Objects of type 'str' are only accepted for .* Constant. .parameter 'c'"),
        ([X, X, X.astype(complex)], "'c' has elements of complex128; cuTile has bool_, int8"),
        ([X, X, X > 0], "cannot implicitly cast"),
    ],
)
def test_wrong_arguments_are_told_at_the_kernel(arguments: list[Any], why: str) -> None:
    with pytest.raises(DiagnosticError, match=why) as raised:
        tileas.compile(cutile_kernels.vector_add, *arguments)
    assert re.match(rf"{re.escape(cutile_kernels.__file__)}:\d+:\d+: error: ", str(raised.value))


def test_a_missing_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("tileas_xdsl.frontend.needed_packages.import_module", missing)
    with pytest.raises(MissingPackageError, match=r"pip install 'tileas-xdsl\[cutile\]'"):
        tileas.compile(cutile_kernels.vector_add, X, X, X)


@pytest.mark.parametrize(
    "number", [3, -7, 2**31 - 1, np.int64(2**40), 2.5, True, np.int8(-5), np.float32(0.25)]
)
def test_numbers_have_their_types(number: Any) -> None:
    x = np.arange(16, dtype=np.float32)
    kernel = tileas.compile(cutile_kernels.scaled_by, x, number)
    for run in (kernel.simulate, kernel.emulate):
        assert run(x, number).arrays[0].tolist() == (x * np.float32(number)).tolist()


def test_operations_of_the_package_are_where_they_are_called() -> None:
    """`reshape` is a method of the package, which calls a function of it."""
    kernel = tileas.compile(cutile_kernels.scaled_by, X[:16], 3)
    files = re.findall(r'\.file \d+ "([^"]*)"', kernel.ptx)
    assert files == [cutile_kernels.__file__]

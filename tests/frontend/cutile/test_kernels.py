"""Kernels of cuTile Python: from a signature or from arguments to a module, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.frontend.bytecode.layout import V13_1, VERSIONS
from tileas_xdsl.frontend.cutile.kernels import is_kernel, load_kernel, parameters_of
from tileas_xdsl.frontend.cutile.tile_ir import export_bytecode, kernel_module
from tileas_xdsl.frontend.needed_packages import MissingPackageError
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    ScalarParameter,
    SignatureError,
)

pytest.importorskip("cuda.tile")

from support import cutile_kernels as kernels

SOURCE = Path(kernels.__file__)
ADD = "a: f32[?], b: f32[?], c: f32[?]"


def test_a_kernel_becomes_a_module_at_its_source() -> None:
    module = kernel_module(kernels.vector_add, ADD)
    verify_module(module)
    entry = next(op for op in module.walk() if op.name == "cuda_tile.entry")
    place = file_location(entry.location)
    assert place is not None
    assert place.file == str(SOURCE)
    assert "def vector_add" in SOURCE.read_text().splitlines()[place.line - 1]


def assumptions(signature: str) -> list[str]:
    module = kernel_module(kernels.vector_add, signature)
    verify_module(module)
    return [
        str(op.properties["predicate"]) for op in module.walk() if op.name == "cuda_tile.assume"
    ]


def test_nothing_is_assumed_that_the_signature_does_not_say() -> None:
    assert set(assumptions("a: f32[?]@1, b: f32[?]@1, c: f32[?]@1")) == {"#cuda_tile.bounded<0, ?>"}
    said = assumptions("a: f32[?], b: f32[?%32], c: f32[?]@1")
    assert said.count("#cuda_tile.div_by<16>") == 2
    assert said.count("#cuda_tile.div_by<32>") == 2
    assert said.count("#cuda_tile.bounded<0, ?>") == 3


def test_extents_may_be_constants() -> None:
    module = kernel_module(kernels.vector_add, "a: f32[256], b: f32[256], c: f32[256]")
    views = {str(o.results[0].type) for o in module.walk() if o.name.endswith("make_tensor_view")}
    assert views == {"!cuda_tile.tensor_view<256xf32, strides=[1]>"}


@pytest.mark.parametrize(
    ("signature", "message"),
    [
        ("a: f32[?]", "the signature lacks b, c; the kernel's parameters are a, b, c"),
        (f"{ADD}, d=1", "the signature has 'd'; the kernel's parameters are a, b, c"),
        ("a=1, b: f32[?], c: f32[?]", "load"),
    ],
)
def test_signatures_that_do_not_fit(signature: str, message: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        export_bytecode(kernels.vector_add, signature)
    [report] = caught.value.diagnostics
    assert message in report.message
    assert "\n" not in report.message
    assert report.location is not None
    assert report.location.file == str(SOURCE)


def test_a_text_that_is_no_signature() -> None:
    with pytest.raises(SignatureError, match="there is no type 'f31'"):
        export_bytecode(kernels.vector_add, "a: f31[?]")


def test_an_error_in_a_called_function_names_the_call(tmp_path: Path) -> None:
    file = tmp_path / "bad.py"
    file.write_text(
        "import cuda.tile as ct\n\n"
        "def helper(t):\n"
        "    return ct.reshape(t, (3,))\n\n"
        "@ct.kernel\n"
        "def bad(x):\n"
        "    ct.store(x, (0,), helper(ct.load(x, (0,), (4,))))\n"
    )
    with pytest.raises(DiagnosticError) as caught:
        export_bytecode(load_kernel(f"{file}:bad"), "x: f32[?]")
    [report] = caught.value.diagnostics
    assert report.location is not None
    assert (report.location.line, report.location.column) == (4, 12)
    assert report.source_line == "    return ct.reshape(t, (3,))"
    [note] = report.notes
    assert note.location is not None
    assert (note.location.line, note.location.column) == (8, 23)


def test_early_versions_are_for_one_gpu() -> None:
    with pytest.raises(DiagnosticError, match=r"bytecode 13.1 is for one GPU: say which"):
        export_bytecode(kernels.vector_add, ADD, version=V13_1)
    assert export_bytecode(kernels.vector_add, ADD, version=V13_1, gpu="sm_100")[8:10] == bytes(
        VERSIONS[0]
    )


def test_arguments_say_what_is_known_of_parameters() -> None:
    array = np.zeros((100, 64), np.float16)
    arguments = (array, array[:, ::2], array[:, 1:], 128, 64, 32)
    found = parameters_of(kernels.matmul, arguments)
    shape = (Extent(None, 4), Extent(None, 16))
    assert found[0] == ArrayParameter("a", "float16", shape, (Extent(None, 8), Extent(1)), 16)
    assert isinstance(found[1], ArrayParameter)
    assert found[1].strides == (Extent(None, 8), Extent(None, 2))
    assert isinstance(found[2], ArrayParameter)
    assert found[2].alignment == 2
    assert found[3:] == (
        ConstantParameter("tm", 128),
        ConstantParameter("tn", 64),
        ConstantParameter("tk", 32),
    )
    verify_module(kernel_module(kernels.matmul, found))


def test_numbers_are_scalars_if_the_kernel_does_not_want_constants() -> None:
    found = parameters_of(kernels.control, (np.zeros(64, np.int32), 7))
    assert found[1] == ScalarParameter("limit", "int32")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 2), "Kernel expects 3 arguments but 2 were given: a, b, c"),
        (("x", 1, 2), "'str' are only accepted for parameters annotated as Constant"),
        (
            (np.zeros(4, [("x", np.int8), ("y", np.int32)])["y"],) * 3,
            "are no whole elements",
        ),
        (
            (np.zeros(4, np.dtype(np.float32).newbyteorder("S")),) * 3,
            "have their bytes in the order of another machine",
        ),
    ],
)
def test_arguments_that_no_kernel_takes(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        parameters_of(kernels.vector_add, arguments)


def test_kernels_are_told_from_other_things() -> None:
    assert is_kernel(kernels.vector_add)
    assert not is_kernel(kernels.exponentials)
    assert not is_kernel(kernels)


ONE = """import cuda.tile as ct

@ct.kernel
def one(x):
    ct.store(x, (0,), ct.load(x, (0,), (4,)))
"""


def test_the_only_kernel_of_a_file_needs_no_name(tmp_path: Path) -> None:
    (tmp_path / "k.py").write_text(ONE)
    assert is_kernel(load_kernel(str(tmp_path / "k.py")))


@pytest.mark.parametrize(
    ("text", "reference", "message"),
    [
        (ONE, "k.py:once", "there is no 'once' in this file; did you mean one?"),
        (ONE, "k.py:two", "there is no 'two' in this file"),
        (ONE, "k.py:ct", "'ct' is no kernel: it has no '@ct.kernel'"),
        (ONE + ONE.replace("one", "two"), "k.py", "say {file}:NAME; there are one, two"),
        ("x = 1\n", "k.py", "which kernel is meant? say {file}:NAME; there is none"),
        ("import nothing_of_the_kind\n", "k.py:one", "ModuleNotFoundError"),
    ],
)
def test_references_that_name_no_kernel(
    text: str, reference: str, message: str, tmp_path: Path
) -> None:
    file = tmp_path / "k.py"
    file.write_text(text)
    with pytest.raises(DiagnosticError) as caught:
        load_kernel(str(tmp_path / reference))
    assert message.format(file=file) in str(caught.value)


def test_without_the_package_the_command_that_installs_it_is_said(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def refuse(name: str) -> Any:
        raise ImportError(name)

    monkeypatch.setattr("tileas_xdsl.frontend.needed_packages.import_module", refuse)
    (tmp_path / "k.py").write_text(ONE)
    with pytest.raises(MissingPackageError, match=r"pip install 'tileas-xdsl\[cutile\]'"):
        load_kernel(str(tmp_path / "k.py"))

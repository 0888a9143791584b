"""Kernels of cuTile Python: what their bytecode becomes, and that nothing of it is lost."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from io import StringIO
from pathlib import Path

import pytest
from support.tile_programs import parsed, printed
from xdsl.dialects.builtin import CallSiteLoc, FusedLoc, ModuleOp
from xdsl.ir import Operation
from xdsl.printer import Printer

from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.cuda_tile.structure.debug_info import DISubprogramAttr
from tileas_xdsl.frontend.bytecode.layout import V13_3, VERSIONS, Version, version_named
from tileas_xdsl.frontend.bytecode.operations import BY_NAME, ENCODINGS
from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode
from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode

pytest.importorskip("cuda.tile")

import cuda.tile
from support import cutile_kernels as kernels

from tests.frontend.bytecode.foreign_bytecode import opcode_of
from tileas_xdsl.frontend.cutile.tile_ir import export_bytecode

SOURCE = Path(kernels.__file__)
NEEDED = {name: version_named(since) for name, (since, _) in kernels.NEWER.items()}
SIGNATURES = kernels.SIGNATURES | {name: text for name, (_, text) in kernels.NEWER.items()}
FILES = [
    (name, version)
    for name in SIGNATURES
    for version in VERSIONS
    if NEEDED.get(name, VERSIONS[0]) <= version
]

OTHERWISE_NUMBERED = {
    ("wide", version): "the package gives the bits of a negative f64 more than 64 bits"
    for version in VERSIONS
} | {("debugging", VERSIONS[0]): "the package numbers a global where it is first used"}
"""Files that are not written back byte for byte, and why."""

NOT_FROM_OUR_KERNELS = {"int_to_ptr": "lists of arrays have no signature here"}
"""Operations that the front end makes of what the kernels do not have."""


def made_by_the_front_end() -> set[str]:
    """The operations for which the package's compiler calls its writer."""
    package = Path(cuda.tile.__file__).parent
    sources = [
        *package.glob("_ir/*.py"),
        *package.glob("_passes/*.py"),
        package / "_ir2bytecode.py",
    ]
    found = {
        name
        for path in sources
        for name in re.findall(r"bc\.encode_(\w+Op)\b", path.read_text(encoding="utf-8"))
    }
    return {ENCODINGS[opcode_of(name)].name for name in found if opcode_of(name) in ENCODINGS}


@cache
def bytecode(name: str, version: Version) -> bytes:
    gpu = None if version >= V13_3 else "sm_100"
    kernel = getattr(kernels, name)
    return export_bytecode(kernel, SIGNATURES[name], version=version, gpu=gpu)


@pytest.mark.sample(18)
@pytest.mark.parametrize(("name", "version"), FILES, ids=lambda value: str(value))
def test_bytecode_is_read_printed_and_written_back(name: str, version: Version) -> None:
    data = bytecode(name, version)
    module = read_bytecode(data)
    verify_module(module)
    assert printed(parsed(printed(module))) == printed(module)
    written = write_bytecode(module, version)
    assert (written == data) == ((name, version) not in OTHERWISE_NUMBERED)
    again = read_bytecode(written)
    assert again.is_structurally_equivalent(module)
    assert list(places(again)) == list(places(module))
    assert len(written) == len(data)


def places(module: ModuleOp) -> Iterator[object]:
    return (op.location for op in module.walk())


@pytest.mark.parametrize("name", ["softmax", "pointers", "debugging"])
def test_text_with_places_says_all_that_bytecode_does(name: str) -> None:
    module = read_bytecode(bytecode(name, VERSIONS[-1]))
    stream = StringIO()
    Printer(stream, print_debuginfo=True).print_op(module)
    assert write_bytecode(parsed(stream.getvalue())) == write_bytecode(module)


def operations() -> Iterator[Operation]:
    for name in SIGNATURES:
        yield from read_bytecode(bytecode(name, VERSIONS[-1])).walk()


def test_the_kernels_use_every_operation_of_the_front_end() -> None:
    met = {op.name.removeprefix("cuda_tile.") for op in operations() if op.name in BY_NAME}
    assert made_by_the_front_end() - met == set(NOT_FROM_OUR_KERNELS)


def test_every_operation_is_at_its_line_of_python() -> None:
    lines = SOURCE.read_text().splitlines()
    module = read_bytecode(bytecode("vector_add", VERSIONS[-1]), first_column=0)
    [addition] = [op for op in module.walk() if op.name == "cuda_tile.addf"]
    place = file_location(addition.location)
    assert place is not None
    assert place.file == str(SOURCE)
    assert lines[place.line - 1][place.column - 1 :].startswith("ct.load(a, index=(i,)")


def test_a_scope_names_the_function() -> None:
    module = read_bytecode(bytecode("vector_add", VERSIONS[-1]))
    [entry] = [op for op in module.walk() if op.name == "cuda_tile.entry"]
    assert isinstance(entry.location, FusedLoc)
    scope = entry.location.metadata
    assert isinstance(scope, DISubprogramAttr)
    assert (scope.function_name.data, scope.linkage_name.data) == ("vector_add", "vector_add")
    assert scope.file.file_name.data == SOURCE.name


def test_inlined_calls_are_call_sites() -> None:
    """`exponentials` is called by `softmax`."""
    lines = SOURCE.read_text().splitlines()
    module = read_bytecode(bytecode("softmax", VERSIONS[-1]))
    [exponential] = [op for op in module.walk() if op.name == "cuda_tile.exp"]
    location = exponential.location
    assert isinstance(location, CallSiteLoc)
    inside, outside = (file_location(part) for part in (location.callee, location.caller))
    assert inside is not None
    assert outside is not None
    assert "return ct.exp(" in lines[inside.line - 1]
    assert "e = exponentials(row)" in lines[outside.line - 1]
    assert file_location(location) == inside

"""Writing: text becomes bytecode and the same text again, and what a version lacks is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.tile_programs import PROGRAM, parsed, printed, program_bytecode
from xdsl.dialects.builtin import FileLineColLoc, FusedLoc, ModuleOp, StringAttr

from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.diagnostics.parsing.chunks import split_chunks
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.dialects.cuda_tile.structure.debug_info import DISubprogramAttr
from tileas_xdsl.frontend.bytecode.layout import VERSIONS, Section, Version, version_named
from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode
from tileas_xdsl.frontend.bytecode.reading.sections import split_sections
from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode
from tileas_xdsl.installed import registered_context


@pytest.mark.parametrize("version", VERSIONS[1:], ids=str)
def test_text_survives(version: Version) -> None:
    module = parsed(PROGRAM)
    again = read_bytecode(write_bytecode(module, version))
    assert printed(again) == printed(module)
    assert again.is_structurally_equivalent(module)


FILES = sorted((Path(__file__).parents[2] / "filecheck/dialects/cuda_tile/ops").glob("*.mlir"))


def modules_of(path: Path) -> Iterator[ModuleOp]:
    """The Tile IR modules of a file, each by itself and under the name that all have when read."""
    for chunk in split_chunks(path.read_bytes()):
        for op in list(parsed(chunk.content.decode(), path.name).ops):
            if op.name == "cuda_tile.module":
                op.detach()
                op.properties["sym_name"] = StringAttr("kernels")
                yield ModuleOp([op])


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_texts_that_show_the_dialect_survive(path: Path) -> None:
    """All but the few operations that carry attributes of nobody's."""
    survived = 0
    for module in modules_of(path):
        try:
            data = write_bytecode(module)
        except OpError as error:
            known = "there is no place for its attribute", "unsupported location, got FusedLoc"
            assert any(text in str(error) for text in known)
            continue
        assert printed(read_bytecode(data)) == printed(module)
        survived += 1
    assert survived > 0


def test_a_token_that_13_1_does_not_have_is_made_again() -> None:
    module = parsed(PROGRAM)
    assert printed(read_bytecode(program_bytecode(version_named("13.1")))) == printed(module)


def test_places_in_text_survive_with_the_function_as_their_scope() -> None:
    module = parsed(PROGRAM, "folder/program.mlir")
    again = read_bytecode(write_bytecode(module))
    first = _operations(module)
    second = _operations(again)
    assert [file_location(op.location) for op in first] == [
        file_location(op.location) for op in second
    ]
    location = second[0].location
    assert isinstance(location, FusedLoc)
    scope = location.metadata
    assert isinstance(scope, DISubprogramAttr)
    assert scope.function_name.data == "first"
    assert scope.file.file_name.data == "program.mlir"
    assert scope.file.directory.data == "folder"
    assert write_bytecode(again) == write_bytecode(module)


def _operations(module: ModuleOp) -> list:
    return [op for op in module.walk() if op.name.startswith("cuda_tile.make")]


def test_globals_have_no_place() -> None:
    again = read_bytecode(program_bytecode())
    table = next(op for op in again.walk() if op.name == "cuda_tile.global")
    assert file_location(table.location) is None


def test_the_producer_is_kept() -> None:
    module = parsed('cuda_tile.module @kernels attributes {producer = "by hand"} {}')
    data = write_bytecode(module)
    assert Section.PRODUCER in split_sections(data, "f").payloads
    assert printed(read_bytecode(data)) == printed(module)


def test_the_name_of_a_module_is_not_written() -> None:
    [kernels] = read_bytecode(write_bytecode(parsed("cuda_tile.module @other {}"))).ops
    assert kernels.properties["sym_name"] == StringAttr("kernels")


def entry(*lines: str, parameters: str = "%x: tile<f32>, %n: tile<i32>") -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return (
        f"cuda_tile.module @kernels {{\n  entry @f({parameters}) {{\n{body}\n    return\n  }}\n}}"
    )


@pytest.mark.parametrize(
    ("version", "text", "line", "message"),
    [
        ("13.1", entry("%r = atan2 %x, %x : tile<f32>"), 3, "it needs version 13.2, not 13.1"),
        ("13.3", entry("%r = fpowi %x, %n : tile<f32>, tile<i32>"), 3, "it needs version 13.4"),
        (
            "13.2",
            entry("%r = exp %x rounding<approx> : tile<f32>"),
            3,
            "'rounding_mode' needs version 13.3, not 13.2",
        ),
        (
            "13.3",
            entry("%r = ftof %x rounding<negative_inf> : tile<f32> -> tile<f64>"),
            3,
            "its rounding needs version 13.4, not 13.3",
        ),
        (
            "13.1",
            entry("%r = negi %n overflow<no_signed_wrap> : tile<i32>"),
            3,
            "'overflow' needs version 13.2, not 13.1",
        ),
        (
            "13.1",
            entry(
                '%t = print_tko "x" -> token',
                '%u = print_tko "y" token = %t -> token',
            ),
            3,
            "its token is used, which needs version 13.2",
        ),
        (
            "13.2",
            entry("%c = constant <f4E2M1FN: 1.0> : tile<2xf4E2M1FN>"),
            3,
            "type 'Float4E2M1FN' requires bytecode version 13.3+, targeting 13.2",
        ),
        (
            "13.2",
            "cuda_tile.module @kernels {\n  global constant @g <i32: [1, 2]> : tile<2xi32>\n}",
            2,
            "private and constant globals need version 13.3",
        ),
        (
            "13.4",
            "cuda_tile.module @kernels attributes {tag} {}",
            1,
            "there is no place for its attribute 'tag'",
        ),
        ("13.4", "func.func @f() {\n  func.return\n}", 1, "one 'cuda_tile.module'"),
        ("13.4", "cuda_tile.module @a {}\ncuda_tile.module @b {}", 1, "one 'cuda_tile.module'"),
        (
            "13.4",
            entry("%r = negf %x {note = 1 : i32} : tile<f32>"),
            3,
            "there is no place for its attribute 'note'",
        ),
    ],
)
def test_what_a_version_cannot_say_is_refused(
    version: str, text: str, line: int, message: str
) -> None:
    with pytest.raises(OpError) as caught:
        write_bytecode(parsed(text), version_named(version))
    [report] = caught.value.diagnostics
    assert message in report.message
    assert report.location is not None
    assert (report.location.file, report.location.line) == ("program.mlir", line)


@pytest.mark.parametrize(
    ("text", "since"),
    [
        (entry("%r = exp %x : tile<f32>"), "13.1"),
        (entry("%r = exp %x rounding<full> : tile<f32>"), "13.1"),
        (entry("%r = tanh %x rounding<full> : tile<f32>"), "13.1"),
        (entry("%r = negi %n : tile<i32>"), "13.1"),
        (entry("%r = ftof %x : tile<f32> -> tile<f64>"), "13.1"),
        (entry('%t = print_tko "x" -> token'), "13.1"),
    ],
)
def test_defaults_need_no_newer_version(text: str, since: str) -> None:
    module = parsed(text)
    assert printed(read_bytecode(write_bytecode(module, version_named(since)))) == printed(module)


@pytest.mark.parametrize("place", ['"name"("other.py":7:3)', 'fused["a.py":7:3, "b.py":8:4]'])
def test_locations_that_bytecode_does_not_have_are_refused(place: str) -> None:
    module = parsed(entry(f"%r = negf %x : tile<f32> loc({place})"))
    with pytest.raises(OpError, match=r"unsupported location, got (Name|Fused)Loc, expected DILoc"):
        write_bytecode(module)


def test_the_producer_is_dropped_where_the_version_has_none() -> None:
    text = 'cuda_tile.module @kernels attributes {producer = "by hand"} {}'
    again = read_bytecode(write_bytecode(parsed(text), version_named("13.2")))
    assert "producer" not in printed(again)


def test_a_function_without_a_place_takes_that_of_its_operations() -> None:
    text = entry("%r = negf %x : tile<f32>").replace(
        "    return\n  }", "    return\n  } loc(unknown)"
    )
    again = read_bytecode(write_bytecode(parsed(text)))
    negation = next(op for op in again.walk() if op.name == "cuda_tile.negf")
    assert file_location(negation.location) == Location("program.mlir", 3, 10)
    assert isinstance(negation.location, FusedLoc)
    assert isinstance(negation.location.metadata, DISubprogramAttr)
    assert negation.location.metadata.line.data == 3


def test_unknown_places_stay_unknown() -> None:
    module = parsed(entry("%r = negf %x : tile<f32> loc(unknown)"))
    again = read_bytecode(write_bytecode(module))
    negation = next(op for op in again.walk() if op.name == "cuda_tile.negf")
    assert not isinstance(negation.location, FileLineColLoc | FusedLoc)


SUM = (
    "%v = constant <f32: 1.0> : tile<8xf32>",
    """%r = reduce %v dim=0 identities=[0.0 : f32] : tile<8xf32> -> tile<f32>
    (%a: tile<f32>, %b: tile<f32>) {
      yield %a : tile<f32>
    }""",
)


@pytest.mark.parametrize(
    ("before", "inserted", "message"),
    [
        ("entry @f", '"test.op"() : () -> ()', "only function and global ops are allowed"),
        ("return", '"test.op"() : () -> ()', "only ops from the 'cuda_tile' dialect are allowed"),
        ("yield", '%t = print_tko "" -> token', "only pure operations allowed"),
    ],
    ids=["module", "dialect", "effect"],
)
def test_only_self_contained_modules_are_written(before: str, inserted: str, message: str) -> None:
    program = entry(*SUM)
    assert write_bytecode(parsed(program))
    wrong = program.replace(before, f"{inserted}\n{before}", 1)
    module = parse_module(registered_context(), wrong, "wrong.mlir")
    with pytest.raises(OpError, match=message) as refused:
        write_bytecode(module)
    op = "cuda_tile.print_tko" if "print_tko" in inserted else "test.op"
    assert [note.message for note in refused.value.diagnostics[0].notes] == [f"invalid op: {op}"]

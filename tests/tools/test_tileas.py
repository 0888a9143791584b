"""The `tileas` command as a user calls it: output, exit codes, and nothing half-written."""

import errno
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner, Result

from tileas_xdsl.diagnostics.catalogue import catalogue
from tileas_xdsl.diagnostics.parsing.pass_specs import parse_passes
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.tools import tileas
from tileas_xdsl.tools.commands.installation import doctor, listings
from tileas_xdsl.tools.tileas import app
from tileas_xdsl.universe import TILEAS_UNIVERSE


def run(*args: str) -> Result:
    result = CliRunner().invoke(app, list(args))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Traceback" not in result.output
    return result


def facts_of(result: Result) -> dict[str, str]:
    lines = [re.split(r"  +", line, maxsplit=1) for line in result.stdout.splitlines()]
    return {pair[0]: pair[1] for pair in lines if len(pair) == 2}


# layout


def test_a_swizzled_tile_has_no_bank_conflicts(tmp_path: Path) -> None:
    picture = tmp_path / "tile.svg"
    text = "<(64,64),(64,1),swizzle<3,4,3>>"
    result = run("layout", text, "--elem", "f16", "--svg", str(picture))
    assert result.exit_code == 0
    facts = facts_of(result)
    assert facts["swizzle"] == "128B: S<3,4,3> on byte addresses"
    assert facts["elements"] == "16 bits, 8192 bytes in all"
    assert facts["vectors along mode 1"] == "8 x 16 bits"
    down = "lanes down mode 0, 16 B each"
    assert facts[down] == "64 wavefronts for the tile, no bank conflict"
    plain = facts_of(run("layout", "<(64,64),(64,1)>", "--elem", "f16"))
    assert plain[down] == "512 wavefronts for the tile, 8 times the ideal 64"
    root = ElementTree.parse(picture).getroot()
    assert root.tag.endswith("svg")
    texts = [node.text for node in root.iter() if node.tag.endswith("text")]
    assert texts[0] == text


def test_a_function_prints_its_offsets_and_inverses() -> None:
    result = run("layout", "(3,4):(8,2)")
    facts = facts_of(result)
    assert facts["left inverse"] == "(2,4,3):(0,3,1)"
    assert facts["digits"] == "i0 = offset // 8; i1 = offset // 2 % 4; if offset % 2 == 0"
    assert "2 | 16 18 20 22" in result.stdout
    assert facts_of(run("layout", "(2,2):(0,1)"))["injective"].startswith("no: indices 0 and 1")


def test_a_fragment_prints_its_tv_layout(tmp_path: Path) -> None:
    picture = tmp_path / "fragment.svg"
    text = "((8,2),(2,4)):((4@thread,2@value),(1@value,1@thread))"
    result = run("layout", text, "--svg", str(picture))
    assert facts_of(result)["TV layout"] == "((4,8),(2,2)):((32,1),(16,8))"
    assert "T31 V3" in picture.read_text()


def test_composed_text_is_a_function_or_with_elem_a_tile() -> None:
    text = "S<3,4,3> o 0 o (8,64):(64,1)"
    assert facts_of(run("layout", text))["reaches"] == "offsets 0 to 511"
    assert facts_of(run("layout", text, "--elem", "f16"))["swizzle"].startswith("128B")
    refused = run("layout", "S<3,4,3> o 64 o (8,64):(64,1)", "--elem", "f16")
    assert refused.exit_code == 1
    assert "is no tile in memory" in refused.stderr


def test_an_assumed_element_type_is_said() -> None:
    result = run("layout", "<(8,8),(8,1)>")
    assert result.exit_code == 0
    assert "no --elem is given: f16 is assumed" in result.stderr
    assert "assumed" not in run("layout", "<(8,8),(8,1),elem=bf16>").stderr
    assert run("layout", "<(8,8),(8,1),elem=bf16>", "--elem", "bf16").exit_code == 0


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["layout", "(4,2):(1)"], 1, "<layout>:1:1: error: stride (1) is not congruent"),
        (["layout", "<(4,2),(1,2),elem=bf17>"], 1, "<layout>:1:19: error: unknown element type"),
        (["layout", "(4,\n2:(1)"], 1, "<layout>:2:2: error: expected ')'"),
        (["layout", "(4,2):(1,4)", "--elem", "half"], 2, "'--elem': unknown element type 'half'"),
        (["layout", "4:1", "--elem", ""], 2, "'--elem': unknown element type ''"),
        (["layout", "4:1", "--svg", ""], 2, "'--svg': the name of the file is empty"),
        (["layout", "8:1@thread", "--elem", "f16"], 1, "8:1@thread maps to the axis thread"),
        (
            ["layout", "(8,4):(4@thread,1@value)", "--elem", "f16"],
            1,
            "--elem f16 is for tiles in memory, (8,4):(4@thread,1@value) maps to the axes thread "
            "and value",
        ),
        (["layout", "<4,1,elem=f16>", "--elem", "f32"], 1, "--elem f32 contradicts"),
        (["layout", "(2,2):(1@x,1@y)", "--svg", "{tmp}/a.svg"], 1, "a picture shows offsets"),
        (["layout", "(99999,99999):(1,9)"], 1, "a table holds"),
        (["layout", "4:1", "--svg", "{tmp}/no/such/a.svg"], 1, "cannot write"),
        (["layout"], 2, "Missing argument"),
        (["layout", "4:1", "5:1"], 2, "unexpected extra argument"),
        (["layout", "4:1", "--elm", "f16"], 2, "No such option"),
        (["layot", "4:1"], 2, "No such command 'layot'"),
        (["diagnostics", "zzz-no-such-text"], 1, "no message has 'zzz-no-such-text' in it"),
    ],
)
def test_wrong_calls_are_told_why(args, code, message, tmp_path: Path) -> None:
    result = run(*(arg.replace("{tmp}", str(tmp_path)) for arg in args))
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stdout == ""
    assert list(tmp_path.iterdir()) == []


def test_the_caret_stands_under_the_fault() -> None:
    lines = run("layout", "<(4,2),(1,2),swizzle<2,3,2>>").stderr.splitlines()
    assert lines[1] == "<(4,2),(1,2),swizzle<2,3,2>>"
    assert lines[2].index("^") == lines[1].index("swizzle")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.text(max_size=40),
        st.text(alphabet="()<>:,@+-o S0123456789swizlem=f", max_size=40),
    ),
    st.one_of(st.none(), st.text(max_size=8)),
)
def test_random_text_never_makes_a_traceback(text: str, elem: str | None) -> None:
    args = ["layout", *(["--elem", elem] if elem is not None else []), "--", text]
    assert run(*args).exit_code in (0, 1, 2)


NUMBERS = st.one_of(st.integers(0, 9), st.sampled_from([999999999999, 1 << 63, 1 << 200]))


@given(
    st.lists(st.tuples(NUMBERS, NUMBERS, st.sampled_from(["", "@thread", "@value", "@x"]))),
    st.sampled_from([None, "f16", "i1"]),
)
@example([(4, 1, "@thread"), (8, 999999999999, "@value")], None)
@example([(999999999999, 1, ""), (8, 8, "")], "f16")
def test_huge_numbers_never_make_a_traceback(
    leaves: list[tuple[int, int, str]], elem: str | None
) -> None:
    shape = ",".join(str(extent) for extent, _, _ in leaves)
    stride = ",".join(f"{number}{axis}" for _, number, axis in leaves)
    option = ["--elem", elem] if elem is not None else []
    assert run("layout", *option, "--", f"({shape}):({stride})").exit_code in (0, 1)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (MemoryError("no room\nfor it"), "this needs more memory than there is: no room for it"),
        (MemoryError(), "this needs more memory than there is"),
        (OSError(errno.ENOSPC, "Full"), "cannot write the output: Full"),
        (
            KeyError("x"),
            "internal error in this tool: KeyError: 'x' (set TILEAS_TRACEBACK=1 for the traceback)",
        ),
    ],
)
def test_unexpected_errors_are_one_line(error, message, monkeypatch, capsys) -> None:
    def fail(argv: list[str]) -> None:
        raise error

    monkeypatch.setattr(tileas, "app", fail)
    with pytest.raises(SystemExit) as left:
        tileas.main(["layout", "4:1"])
    assert left.value.code == 1
    assert capsys.readouterr().err == f"tileas: error: {message}\n"


# listings


def test_the_catalogue_is_listed_with_emitter_and_condition() -> None:
    result = run("diagnostics")
    assert len(result.stdout.splitlines()) == 1 + len(catalogue())
    shown = run("diagnostics", "common memKind").stdout
    assert r"\x20can not find common memKind among pipeline alias group\n" in shown
    assert "TileASAssignLoadStoreLayouts" in shown
    literal = run("diagnostics", "--literal").stdout.splitlines()
    assert len(literal) == 1 + sum(entry.is_literal for entry in catalogue())
    missing = run("diagnostics", "--unemitted", "emits OCG knobs as specific").stdout.splitlines()
    assert len(missing) == 2
    assert re.search("TileASInsertOCGKnobs", missing[1])


def test_dialects_are_counted() -> None:
    from tileas_xdsl.diagnostics.catalogue import emitted_ids
    from tileas_xdsl.dialects.nv_tileas import NvTileas

    shown = run("dialects").stdout
    assert re.search(rf"^nv_tileas +{len(list(NvTileas.operations))} ", shown, re.MULTILINE)
    assert f"{len(catalogue())} messages listed, {len(emitted_ids())} of them emitted" in shown
    emitted = run("diagnostics", "--emitted").stdout.splitlines()
    assert len(emitted) == 1 + len(emitted_ids())


def test_passes_and_pipelines_are_listed() -> None:
    shown = run("passes").stdout
    assert "lowering TiledLoad or TiledStore which with tma atom to async tiled" in shown
    assert len(shown.splitlines()) == 1 + len(TILEAS_UNIVERSE.all_passes)
    for name, factory in TILEAS_UNIVERSE.all_passes.items():
        assert f"\n{name} " in shown
        assert factory().__doc__.split("\n")[0] in shown
    assert "\ncanonicalize " in run("passes", "--all").stdout
    shown = run("pipelines").stdout
    assert all(pipeline.spec in shown for pipeline in PIPELINES.values())


def test_pipelines_break_at_commas_on_a_terminal(monkeypatch) -> None:
    monkeypatch.setattr(listings, "on_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    lines = run("pipelines").stdout.splitlines()
    assert max(len(line) for line in lines if line.startswith("  ")) <= 60
    start = lines.index(f"tileas-layout: {PIPELINES['tileas-layout'].summary}") + 1
    end = next(i for i in range(start, len(lines)) if not lines[i].startswith("  "))
    pasted = "\n".join(lines[start:end])
    assert pasted.count("\n") > 1
    assert parse_passes(pasted, TILEAS_UNIVERSE.all_passes, {}) == parse_passes(
        PIPELINES["tileas-layout"].spec, TILEAS_UNIVERSE.all_passes, {}
    )


def test_doctor_names_what_is_missing_and_how_to_get_it(monkeypatch) -> None:
    gone = doctor.Need("rocket", "the moon", lambda: None, "pip install rocket")
    here = doctor.Need("wheel", "the road", lambda: "1.0", "pip install wheel", required=True)
    monkeypatch.setattr(doctor, "NEEDS", (gone, here))
    result = run("doctor")
    assert result.exit_code == 0
    assert re.search(r"rocket +missing +the moon +pip install rocket", result.stdout)
    assert re.search(r"wheel +1\.0 +the road", result.stdout)
    assert "pip install wheel" not in result.stdout
    monkeypatch.setattr(doctor, "NEEDS", (doctor.Need("x", "y", lambda: None, "z", True),))
    assert run("doctor").exit_code == 1


def test_doctor_finds_this_installation() -> None:
    monitored = {need.name: need.look() for need in doctor.NEEDS if need.required}
    assert None not in monitored.values()


def test_doctor_finds_the_ptxas_of_the_compiler(monkeypatch) -> None:
    (ptxas,) = (need for need in doctor.NEEDS if need.name == "ptxas")
    monkeypatch.setenv("TILEAS_PTXAS", sys.executable)
    assert ptxas.look() == sys.executable
    monkeypatch.setenv("TILEAS_PTXAS", "/nowhere")
    assert ptxas.look() == "TILEAS_PTXAS names no program: '/nowhere'"


def test_help_and_version() -> None:
    assert "layout" in run("--help").stdout
    assert "...\n" not in run("--help").stdout.partition("Commands:")[2]  # No summary is cut.
    assert "...\n" not in run("example", "--help").stdout.partition("Commands:")[2]
    assert run("--version").stdout.startswith("tileas 0.")
    assert "shared memory" in run("layout", "--help").stdout
    assert run().exit_code == 2


def test_the_command_is_installed_and_survives_a_closed_pipe() -> None:
    tool = Path(sys.executable).with_name("tileas")
    shown = subprocess.run(
        f"'{tool}' diagnostics | head -1", shell=True, capture_output=True, text=True, check=False
    )
    assert shown.stdout.startswith("id")
    assert "Traceback" not in shown.stderr

"""A printed schedule of a kernel of cuTile: read, edited by hand, and compiled on by the tools."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from kernels.cutile.attention import Attention
from kernels.cutile.problem import Problem, emulated
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.tools.tileas import app
from tileas_xdsl.tools.tileas_opt import main as tileas_opt

KERNELS = Path(__file__).parents[4] / "kernels" / "cutile"
ARRAYS = "a: f16[?, ?%8], b: f16[?, ?%8], c: f16[?, ?%8], tm=128, tn=128, tk=64"
SCHEDULED = [*PIPELINES["cudatile-to-tileas"].passes, *PIPELINES["tileas-schedule"].passes]


def tileas(*words: str) -> Result:
    result = CliRunner().invoke(app, list(words))
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result


@cache
def printed() -> str:
    """The product of the guide, scheduled."""
    passes = "cudatile-to-tileas,tileas-schedule"
    file = f"{KERNELS / 'matmul.py'}:matmul"
    result = tileas("compile", file, "--sig", ARRAYS, "--emit", "ir", "-p", passes)
    assert result.exit_code == 0, result.stderr
    return result.stdout


PLACE = r"tileas.schedule = \{stage[^}]*\}, "


@cache
def bare() -> str:
    """The same as a person would begin to edit it: without what repeats, or follows from stages."""
    return without_copies(printed())


def without_copies(text: str) -> str:
    return re.sub(r", (nv_tile.aws.(stage|order)|offset) = \d+ : i32", "", text)


def test_more_stages_are_compiled_as_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "edited.mlir"
    path.write_text(re.sub(r"stages = \d", "stages = 5", bare()))
    shown = tileas("schedule", str(path))
    assert "buffer of load 0: 5 stages\n  buffer of load 1: 5 stages" in shown.stdout
    made = tileas("compile", str(path), "-p", "tileas-materialize-schedule", "--emit", "ir")
    assert "numStages = 5" in made.stdout


def test_what_is_pinned_stays_and_the_rest_is_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "pinned.mlir"
    text = re.sub(PLACE, "", bare())
    text = re.sub(r"tileas.schedule = \{ii.*", "tileas.schedule = {ii = 2048 : i32}}", text)
    path.write_text(text)
    shown = tileas("schedule", str(path))
    assert shown.stdout.startswith("loop 0: an iteration every 2048 cycles")


@cache
def attention() -> tuple[Problem, CompiledKernel]:
    """Attention with the schedule of the solver, whose products are in one stage."""
    problem = Attention(1, 1, 128, 100, 64, tm=128, tn=32).problem()
    arguments = problem.arguments()
    return problem, compile(problem.kernel, *arguments, target="sm_90a", passes=SCHEDULED)


SECOND = r"(nv_tileas\.dot .*|arith\.mulf .*: )tensor<128x64xf32>"
"""The second product, and what scales its sums."""


def by_hand(text: str, *, late: bool) -> str:
    """Each loop in the order of its program, ten cycles an operation; its end one stage later."""
    orders: dict[tuple[str, ...], int] = {}
    lines = text.splitlines()
    for k, line in enumerate(lines):
        found = re.search(r"stage = (\d+) : i32, order = (\d+) .*?role = \"(\w+)\"", line)
        if found is not None:
            order = orders.setdefault(found.groups(), len(orders))
            stage = int(late and re.search(SECOND, line) is not None)
            place = f"stage = {stage} : i32, order = {order} : i32"
            start = f"start = {500 * stage + 10 * order} : i32"
            lines[k] = re.sub(
                r"stage = \d+.*?start = \d+ : i32", f"{place}, {start}", line, count=1
            )
        elif "tileas.schedule = {ii" in line:
            lines[k] = re.sub(r"ii = \d+", "ii = 500", line)
            orders.clear()
    return "\n".join(lines)


@pytest.mark.parametrize(("late", "products"), [(False, 4), (True, 7)])
def test_attention_is_right_by_a_schedule_of_hand(late: bool, products: int) -> None:
    """A round later, either loop has a prologue with the first product; both have one epilogue."""
    problem, scheduled = attention()
    text = by_hand(without_copies(str(scheduled.module)), late=late)
    kernel = replace(compile(text), parameters=scheduled.parameters)
    made = kernel.ir("tileas-materialize-schedule").count("nv_tileas.dot")
    assert made == products
    found = emulated(problem, kernel, order="random")
    assert found.is_right, str(found)


LOAD, DOT = r"nv_tileas.tiled_load %\d+\[%\d+, %\d+\] after[^{]*\{", r"nv_tileas.dot [^{]*\{"
PRODUCER, CONSUMER = r'name = "producer", warps = 4', r'name = "consumer", warps = 4'

WRONG: Mapping[str, tuple[str, str, str, str]] = {
    "stage below 0": (
        *(rf"({LOAD}.*?stage = )\d", r"\1-1", "tiled_load"),
        "has stage = -1 in tileas.schedule; at least 0 is needed",
    ),
    "more stages than shared memory holds": (
        *(r"stages = \d", "stages = 30", "scf.for"),
        "has buffers of .* bytes: 30 stages of 16384 bytes, .* shared memory has 232448",
    ),
    "order that breaks a dependence": (
        *(rf"({DOT}.*?)stage = \d( .*?)start = \d+", r"\1stage = 0\2start = 0", "dot"),
        "starts at cycle 0, before what it waits for",
    ),
    "unknown unit": (
        *('unit = "tma"', 'unit = "dma"', "tiled_load"),
        'has unit = "dma" in tileas.schedule; known are tma, tensor_core',
    ),
    "place of one operation missing": (
        *(rf"({DOT}){PLACE}", r"\1", "dot"),
        "has no tileas.schedule, but its loop has one",
    ),
    "order twice": (
        *(rf"({LOAD}.*?order = )1(.*)", r"\g<1>0\2", "tiled_load"),
        "has order 0 of the role producer, as has an operation that starts at cycle",
    ),
    "buffer twice": (
        *("value = 1", "value = 0", "scf.for"),
        "has two entries for one load in buffers of tileas.schedule",
    ),
    "wrong type": (
        *(r"start = (\d+) : i32", r"start = \1 : i64", "tiled_load"),
        r"has start = \d+ : i64 in tileas.schedule, which has to be an i32",
    ),
    "entry twice": (
        *('unit = "tma"', 'unit = "tma", role = "producer"', "tiled_load"),
        "Duplicate key 'role' in dictionary attribute",
    ),
    "role that does not exist": (
        *('role = "producer"', 'role = "fetcher"', "tiled_load"),
        'has role = "fetcher" in tileas.schedule; known are producer, consumer, transform, epi',
    ),
    "role that its loop does not have": (
        *(rf'({LOAD}.*?)role = "producer"', r'\1role = "transform"', "tiled_load"),
        "is scheduled in the role transform, which its loop does not have",
    ),
    "role without operations": (
        *("roles = .", 'roles = [{name = "epilogue", warps = 4 : i32, registers = 40 : i32}, '),
        *("scf.for", "has the role epilogue, in which no operation runs"),
    ),
    "registers of more than a multiprocessor": (
        *(rf"({PRODUCER} : i32, registers = )40", r"\g<1>232", "scf.for"),
        "gives its roles 89088 registers of 65536: 128 threads of the producer have 232, 256",
    ),
    "stage that contradicts the start": (
        *(rf"({DOT}.*?)start = \d+", r"\1start = 100000", "dot"),
        "is in stage 3, but starts at cycle 100000",
    ),
    "unknown entry": (
        *("order = ", "ordr = ", "tiled_load"),
        "has an unknown entry 'ordr' in tileas.schedule; did you mean order",
    ),
}
"""By what is wrong: text and its replacement, the operation that is refused, and the words."""

CONTRADICTED: Mapping[str, tuple[str, str, str, str]] = {
    "stage in another spelling": (
        *(r"aws.stage = 3", "aws.stage = 2", "dot"),
        "has stage = 3 in tileas.schedule, but nv_tile.aws.stage = 2; leave the second one out",
    ),
    "order in another spelling": (
        *(r"aws.order = 1", "aws.order = 5", "tiled_load"),
        "has order = 1 in tileas.schedule, but nv_tile.aws.order = 5",
    ),
    "unit of something else": (
        *(rf"({DOT}.*?)tensor_core", r"\1tma", "dot"),
        "is on the unit tma, which it does not use; it uses tensor_core, shared_memory, issue",
    ),
    "one stage for a tile that is loaded ahead": (
        *(r"value = 1 : i32, stages = \d", "value = 1 : i32, stages = 1", "tiled_load"),
        "has 1 stage, but tiles of 3 iterations are alive at once",
    ),
    "offset between tiles": (
        *("offset = 49152", "offset = 50000", "tiled_load"),
        "has its buffer at byte 50000 of shared memory, no multiple of 1024",
    ),
    "offset of another buffer": (
        *("offset = 49152", "offset = 32768", "tiled_load"),
        "has its buffer at byte 32768 of shared memory, in the bytes of another one",
    ),
    "offset behind the end": (
        *("offset = 49152", "offset = 196608", "tiled_load"),
        "has its buffer in bytes 196608 to 262143 of shared memory, which has 232448",
    ),
}
"""The same of what contradicts something else that is written there."""

EDITS = [
    *((name, bare, edit) for name, edit in WRONG.items()),
    *((name, printed, edit) for name, edit in CONTRADICTED.items()),
]


@pytest.mark.parametrize(("whole", "edit"), [one[1:] for one in EDITS], ids=[e[0] for e in EDITS])
def test_a_wrong_edit_is_refused_where_it_is(
    whole: Callable[[], str],
    edit: tuple[str, str, str, str],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before, after, operation, words = edit
    text, count = re.subn(before, after, whole(), count=1)
    assert count == 1
    path = tmp_path / "edited.mlir"
    path.write_text(text)
    assert tileas_opt([str(path), "-p", "tileas-materialize-schedule"]) == 1
    refused = capsys.readouterr().err
    assert refused == tileas("compile", str(path), "-o", str(tmp_path / "out.ptx")).stderr
    where = re.match(rf"{re.escape(str(path))}:(\d+):\d+: error: (.*)", refused)
    assert where is not None, refused
    assert operation in text.splitlines()[int(where[1]) - 1]
    assert re.search(words, where[2]), where[2]

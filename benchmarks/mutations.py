"""Mutated inputs of every format: no traceback, no silence, no message without a place, none slow.

    python benchmarks/mutations.py [--only FORMAT]... [--count N] [--seed S] [--keep FOLDER] [--list]

A worker runs the command-line tools in its own process, one mutated input after another.  Seconds
are those of the CPU, so that other processes of the machine don't count; what takes fifteen, or
waits for ten minutes, is killed.  A launch of more than a thousand blocks that was asked for is long, not slow.  Inputs are those of the tests: texts of each dialect, passes on
them as their RUN lines say, bytecode, PTX, layouts, options, `.npy` files and kernels in Python.
Each mutation is that of its number, so `--seed S --count 1` repeats one.
"""

from __future__ import annotations

import argparse
import io
import multiprocessing as mp
import os
import random
import re
import resource
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import prod
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from kernels import make

ROOT = Path(__file__).parents[1]
SLOW_SECONDS, KILL_SECONDS, WAIT_SECONDS = 5.0, 15.0, 600.0
MOST_BLOCKS = 1000
"""Of a launch; a mutation that asks for more is run as long as it takes, up to the kill."""

MOST_MEMORY = 1 << 30
"""Bytes that an input may take beyond what the worker had before."""

OUTCOMES = (
    *("accepted", "rejected", "long"),
    *("traceback", "internal", "silent", "placeless", "slow", "memory"),
)
WRONG = OUTCOMES[3:]

_GRID = re.compile(r"--grid[ =]?([\d,]+)")
_PLACE = re.compile(r"^[^\s:][^:\n]*:\d+:\d+: (error|warning|remark)", re.M)
_TOKEN = re.compile(r"\s+|[\w.$%#!@^]+|.", re.S)
_NUMBERS = (
    "0",
    "-1",
    "1",
    "3",
    "255",
    "65536",
    "2147483648",
    "18446744073709551616",
    "1e39",
    "nan",
)
_RUN = re.compile(r"RUN: tileas-opt (.*?)(?:2>|\||$)", re.M)
_PTX = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry scale(.param .u64 scale_x, .param .f32 scale_by)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .b64 %rd<4>;
    .reg .f32 %f<4>;
    .shared .align 8 .b8 room[64];
    ld.param.u64 %rd0, [scale_x];
    ld.param.f32 %f0, [scale_by];
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, room;
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared::cta.b64 [%r1], 32;
    bar.sync 0;
    mul.wide.u32 %rd1, %r0, 4;
    add.s64 %rd2, %rd0, %rd1;
    ld.global.f32 %f1, [%rd2];
    mul.rn.f32 %f2, %f1, %f0;
    mbarrier.arrive.shared::cta.b64 %rd3, [%r1];
WAIT:
    mbarrier.try_wait.shared::cta.b64 %p1, [%r1], %rd3;
    @!%p1 bra WAIT;
    st.global.f32 [%rd2], %f2;
    ret;
}
"""
_LAYOUTS = (
    *("<(64,64),(64,1),swizzle<3,4,3>>", "(4,8):(8,1)", "S<3,4,3> o 0 o (8,64):(64,1)"),
    *("(8,4):(4@thread,1@value)", "((2,4),(8,8)):((1,16),(2,64))"),
)
_PYTHON = """import cuda.tile as ct


@ct.kernel
def scale(x, y, factor, rows: ct.Constant[int]):
    i = ct.bid(0)
    tile = ct.load(x, (i, 0), (rows, 16)) * factor
    total = ct.zeros((rows, 1), ct.float32)
    for k in range(3):
        total = total + ct.sum(tile, axis=1, keepdims=True) * k
    if factor > 1:
        tile = ct.where(tile > 0, tile, total)
    ct.store(y, (i, 0), ct.astype(tile, y.dtype))
"""


@dataclass(frozen=True)
class Format:
    """A kind of input."""

    seeds: Sequence[tuple[str | bytes, str]]
    """Right inputs, each with options of its own."""
    suffix: str
    command: str
    """The tool and its arguments; `FILE` is the input, `TEXT` its text, `OPTIONS` those of the
    seed."""
    has_places: bool = True
    """Whether an error says where in the input it is."""


def formats() -> Mapping[str, Format]:
    """All kinds of inputs."""
    texts = ROOT / "tests/filecheck"
    found = {
        f"text of {folder.name}": Format(_chunks(folder), ".mlir", "tileas-opt FILE")
        for folder in sorted((texts / "dialects").iterdir())
        if folder.is_dir()
    }
    found["passes"] = Format(_with_passes(texts / "transforms"), ".mlir", "tileas-opt FILE OPTIONS")
    found["kernels"] = Format(_kernels(), ".mlir", "tileas compile FILE")
    found["bytecode"] = Format(_bytecode(), ".tileirbc", "tileas-opt FILE", has_places=False)
    simulate = "tileas simulate FILE --grid 1 --block 32 --arg f32:32:random --arg f32:2"
    found["ptx"] = Format([(_PTX, "")], ".ptx", simulate)
    data = sorted((ROOT / "tests/interpreters/ptx/data").glob("*.ptx"))
    found["ptx of others"] = Format(
        [(path.read_text(), "") for path in data if path.stat().st_size < 60_000],
        *(".ptx", "tileas simulate FILE --grid 1", False),
    )
    layouts = [(text, "") for text in _LAYOUTS]
    found["layouts"] = Format(layouts, ".txt", "tileas layout TEXT", has_places=False)
    found["options"] = Format(_options(), ".txt", "OPTIONS", has_places=False)
    add = f"tileas simulate {_add()} --grid 1"
    arrays = f"{add} --arg @FILE --arg f32:1000:random --arg f32:1000:zeros"
    found["npy"] = Format([(_npy(), "")], ".npy", arrays, has_places=False)
    signature = shlex.quote("x: f32[?, 12], y: f16[?, 12], factor: f32, rows=4")
    python = f"tileas compile FILE:scale --sig {signature} --emit cuda_tile"
    found["python"] = Format([(_PYTHON, "")], ".py", python)
    return found


def _chunks(folder: Path) -> Sequence[tuple[str, str]]:
    texts = [path.read_text() for path in sorted(folder.rglob("*.mlir"))]
    return [(chunk, "") for text in texts for chunk in text.split("// -----\n") if chunk.strip()]


def _with_passes(folder: Path) -> Sequence[tuple[str, str]]:
    """Chunks, with the options that run the passes of the file."""
    found: list[tuple[str, str]] = []
    for path in sorted(folder.glob("*.mlir")):
        text = path.read_text()
        if (run := _RUN.search(text)) is None:
            continue
        words = shlex.split(run[1].replace("%s", ""))
        kept = [
            word for word in words if word not in ("--split-input-file", "--verify-diagnostics")
        ]
        options = shlex.join(kept)
        found += [(chunk, options) for chunk in text.split("// -----\n") if chunk.strip()]
    return found


@cache
def _add() -> Path:
    """A file with a kernel."""
    path = Path(tempfile.mkdtemp()) / "vector_add.mlir"
    path.write_text(make("vector_add").text())
    return path


def _kernels() -> Sequence[tuple[str, str]]:
    """Kernels of tiles, and of Tile IR."""
    from tests.support.random_branches import random_branches

    names = ("vector_add", "copy", "softmax", "permute", "gemm")
    branches = (random_branches(seed)[0] for seed in (3, 11, 17))
    return [(text, "") for text in (*(make(name).text() for name in names), *branches)]


def _bytecode() -> Sequence[tuple[bytes, str]]:
    from tests.support.random_branches import random_branches
    from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
    from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode
    from tileas_xdsl.installed import registered_context

    texts = (random_branches(seed)[0] for seed in range(6))
    return [(write_bytecode(parse_module(registered_context(), text)), "") for text in texts]


def _options() -> Sequence[tuple[str, str]]:
    kernel = _add()
    arguments = "--arg f32:1000:random --arg f32:1000:random:7 --arg f32:1000:zeros"
    return [
        (
            f"tileas-opt {kernel} -p canonicalize,tileas-materialize-convert-layout{{target=sm_90a}},cse -t mlir",
            "",
        ),
        (f"tileas compile {kernel} --target sm_90a --emit ptx", ""),
        (f"tileas simulate {kernel} --grid 8 {arguments} --policy random --seed 3", ""),
        (f"tileas simulate {kernel} --grid 8,1,1 {arguments} --level ptx --order lazy", ""),
        ("tileas layout (4,8):(8,1) --elem f16", ""),
        ("tileas passes", ""),
    ]


def _npy() -> bytes:
    import numpy as np

    room = io.BytesIO()
    np.save(room, np.arange(1000, dtype=np.float32))
    return room.getvalue()


class Mutator:
    """A few random changes; the others' inputs give words."""

    def __init__(self, seed: int, others: Sequence[str | bytes]) -> None:
        self._rng = random.Random(seed)
        self._others = others

    def mutated(self, content: str | bytes) -> str | bytes:
        """The content with one to three changes."""
        for _ in range(self._rng.choice((1, 1, 1, 2, 3))):
            content = self._bytes(content) if isinstance(content, bytes) else self._text(content)
        return content

    def _bytes(self, content: bytes) -> bytes:
        rng, data = self._rng, bytearray(content)
        at = rng.randrange(len(data) + 1)
        match rng.randrange(5):
            case 0 if at < len(data):
                data[at] ^= 1 << rng.randrange(8)
            case 1:
                data[at : at + 1] = bytes([rng.choice((0, 1, 127, 128, 255))])
            case 2:
                del data[at : at + rng.randrange(1, 9)]
            case 3:
                data[at:at] = data[rng.randrange(len(data) + 1) :][: rng.randrange(1, 17)]
            case _:
                data = data[:at] if rng.random() < 0.3 else data + bytes([rng.randrange(256)])
        return bytes(data)

    def _text(self, content: str) -> str:
        tokens = _TOKEN.findall(content) or [""]
        if self._rng.random() < 0.6:
            return self._likely(tokens)
        return self._unlikely(tokens)

    def _likely(self, tokens: list[str]) -> str:
        """Another word of the same kind, so that more than the parser is asked."""
        rng = self._rng
        kind = rng.choice((str.isdigit, _is_value, str.isidentifier, _is_dotted))
        places = [index for index, token in enumerate(tokens) if kind(token)]
        if not places:
            return self._unlikely(tokens)
        at = rng.choice(places)
        is_odd = kind is str.isdigit and rng.random() < 0.6
        tokens[at] = rng.choice(_NUMBERS) if is_odd else tokens[rng.choice(places)]
        return "".join(tokens)

    def _unlikely(self, tokens: list[str]) -> str:
        rng = self._rng
        at, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
        match rng.randrange(9):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, tokens[other])
            case 2:
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case 3:
                tokens[at] = tokens[other]
            case 4:
                tokens[at] = rng.choice(_NUMBERS)
            case 5:
                donor = rng.choice(self._others)
                words = _TOKEN.findall(donor) if isinstance(donor, str) else ["\0"]
                tokens[at] = rng.choice(words or [""])
            case 6:
                tokens.insert(at, rng.choice(("\0", "é", '"', "<", "(", "{", "//", "\n", "\ud800")))
            case 7:
                return "".join(tokens[:at])
            case _:
                return _moved_line("".join(tokens), rng)
        return "".join(tokens)


def _is_value(token: str) -> bool:
    return token.startswith(("%", "!", "#", "@"))


def _is_dotted(token: str) -> bool:
    return "." in token[1:-1]


def _moved_line(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True) or [""]
    line = lines[rng.randrange(len(lines))]
    if rng.random() < 0.5:
        lines.remove(line)
    lines.insert(rng.randrange(len(lines) + 1), line)
    return "".join(lines)


@dataclass(frozen=True)
class Trial:
    """What a tool has said."""

    code: int | None
    """None for an exception that came out."""
    errors: str
    seconds: float
    memory: int
    is_long: bool = False
    """Whether it was asked to run many blocks."""


def run_tool(words: Sequence[str]) -> Trial:
    """Run a tool in this process."""
    from tileas_xdsl.tools import tileas, tileas_opt

    mains: Mapping[str, Callable[[Sequence[str]], int | None]] = {
        "tileas": tileas.main,
        "tileas-opt": tileas_opt.main,
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start, errors, output = _cpu_seconds(), _stream(), _stream()
    code: int | None
    with redirect_stdout(output), redirect_stderr(errors):
        try:
            code = mains[words[0]](words[1:]) or 0
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 0 if leave.code is None else 1
        except BaseException as error:
            code = None
            errors.write(f"{type(error).__name__}: {error}")
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    errors.flush()
    said = errors.buffer.getvalue().decode("utf-8", "replace")
    return Trial(code, said, _cpu_seconds() - start, memory, asks_for_many(words))


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def asks_for_many(words: Sequence[str]) -> bool:
    """Whether a command names a grid of many blocks."""
    found = _GRID.search(" ".join(words))
    return found is not None and prod(int(one or 1) for one in found[1].split(",")) > MOST_BLOCKS


def _stream() -> Any:
    return io.TextIOWrapper(io.BytesIO(), "utf-8", "backslashreplace")


def judged(trial: Trial, has_places: bool) -> str:
    """Of `OUTCOMES`, the worst that holds."""
    if trial.code is None or "Traceback (most recent" in trial.errors:
        return "traceback"
    if "internal error" in trial.errors:
        return "internal"
    if trial.seconds > SLOW_SECONDS:
        return "long" if trial.is_long else "slow"
    if trial.memory > MOST_MEMORY:
        return "memory"
    if trial.code == 0:
        return "accepted"
    if not trial.errors.strip():
        return "silent"
    return "placeless" if has_places and not _PLACE.search(trial.errors) else "rejected"


def _work(channel: Connection) -> None:
    """Run what comes through the channel."""
    os.chdir(tempfile.mkdtemp())
    while (words := channel.recv()) is not None:
        channel.send(run_tool(words))


@cache
def import_tools() -> None:
    """Import what tools import at their first use, so that no input pays for it."""
    for name in ("cuda.tile", "tileas_xdsl.tools.tileas", "tileas_xdsl.tools.tileas_opt"):
        with suppress(ImportError):
            import_module(name)


class Worker:
    """A process that runs tools, and is replaced where it takes too long or dies."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        import_tools()
        self._channel, other = mp.Pipe()
        self._process = mp.get_context("fork").Process(target=_work, args=(other,), daemon=True)
        self._process.start()

    def run(self, words: Sequence[str]) -> Trial:
        """Run a command."""
        self._channel.send(words)
        try:
            if self._answers():
                return self._channel.recv()
            errors = f"still running after {KILL_SECONDS:.0f} seconds"
            trial = Trial(1, errors, KILL_SECONDS, 0, asks_for_many(words))
        except EOFError:
            trial = Trial(None, "the process ended", 0, 0)
        self._process.kill()
        self._start()
        return trial

    def _answers(self) -> bool:
        """Wait for an answer; False if it takes too long."""
        begin, end = _cpu_seconds_of(self._process.pid), time.monotonic() + WAIT_SECONDS
        while not self._channel.poll(1.0):
            if _cpu_seconds_of(self._process.pid) - begin > KILL_SECONDS or time.monotonic() > end:
                return False
        return True


def _cpu_seconds_of(process: int | None) -> float:
    """Return the CPU time of another process, by `proc(5)`; 0 where there is no such file."""
    with suppress(OSError):
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def trials(
    name: str, kind: Format, numbers: Sequence[int], worker: Worker, folder: Path
) -> Iterator[tuple[int, str, Trial, Path]]:
    """Run the mutations of these numbers: number, outcome, what was said, and the input."""
    others = [content for content, _ in kind.seeds]
    for number in numbers:
        content, options = kind.seeds[number % len(kind.seeds)]
        made = Mutator(number, others).mutated(content)
        path = folder / f"{name.replace(' ', '_')}_{number}{kind.suffix}"
        data = made if isinstance(made, bytes) else made.encode("utf-8", "surrogatepass")
        path.write_bytes(data)
        text = made if isinstance(made, str) else ""
        if kind.command == "OPTIONS":
            words = text.split(" ")
        else:
            words = []
            for word in shlex.split(kind.command):
                if word == "OPTIONS":
                    words += shlex.split(options)
                else:
                    words.append(text if word == "TEXT" else word.replace("FILE", str(path)))
        if not words or words[0] not in ("tileas", "tileas-opt"):
            continue
        trial = worker.run([word.replace("\0", "") for word in words])
        yield number, judged(trial, kind.has_places), trial, path


def main() -> None:
    """Run mutations and print a table; the exit code is 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", default=[], metavar="FORMAT")
    parser.add_argument("--count", type=int, default=100, help="mutations of each format")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first")
    parser.add_argument("--keep", type=Path, help="where inputs stay that show something wrong")
    parser.add_argument("--list", action="store_true", help="print the formats")
    given = parser.parse_args()
    if given.list:
        print("\n".join(formats()))
        return
    print(f"{'format':22}" + "".join(f"{one:>11}" for one in OUTCOMES))
    total: Counter[str] = Counter()
    worker, folder = Worker(), Path(given.keep or tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    for name, kind in formats().items():
        if given.only and not any(text in name for text in given.only):
            continue
        counts: Counter[str] = Counter()
        numbers = range(given.seed, given.seed + given.count)
        for number, outcome, trial, path in trials(name, kind, numbers, worker, folder):
            counts[outcome] += 1
            if outcome in WRONG:
                said = trial.errors.strip().splitlines() or [""]
                print(f"  {name} {number}: {outcome}, {trial.seconds:.1f} s: {said[0][:300]}")
            else:
                path.unlink()
        print(f"{name:22}" + "".join(f"{counts[one] or '':>11}" for one in OUTCOMES), flush=True)
        total += counts
    print(f"{'in all':22}" + "".join(f"{total[one] or '':>11}" for one in OUTCOMES))
    sys.exit(any(total[one] for one in WRONG))


if __name__ == "__main__":
    main()

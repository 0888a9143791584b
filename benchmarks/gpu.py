"""How fast our kernels run on the GPU that is there, beside torch and Triton.

    python benchmarks/gpu.py [--only TEXT]... [--rounds 15] [--json FILE] [--compare OLD.json]
                             [--pass NAME[{OPTIONS}][,...]]... [--ahead PROCESSES] [--seconds 600]
    python benchmarks/gpu.py --before benchmarks/measured/diagnosis_h200.json --ahead 16
    python benchmarks/gpu.py --ablation

All classes of `spec/performance.md` 9: products, attention, rows, functions, permutations, sums of
columns, updates.  Random data; each result is compared with torch's.  Launches are recorded in graphs that rotate
through so much data that the level-2 cache is cold, and timed by events, one after another in every
round; medians count.  Of every kernel, ours and others', the fastest of a few tile sizes is taken.
With `--pass` our kernels are compiled with other passes, for an ablation: a pass with other options
in the place of the same, passes in front of the last one named, or one left out:
`--pass "tileas-materialize-schedule{rotate=false}"`, `--pass "without tileas-materialize-async"`.
`--ablation` does this for attention and products, a transformation after another, side by side.
With `--before` the rows of an older run alone are measured; its numbers stand beside, and those of
others that are not there now.
Needs a GPU of Hopper or Blackwell and torch, for cuBLAS, cuDNN and its own kernels; Triton's are
measured where it is installed.  With `--ahead` so many processes first launch everything once, so
that all compilers' caches are full; cases that are not reached within `--seconds` are left out.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.gpu_ablation import ablations
from benchmarks.gpu_cases import Case, Data, attentions, compile_with, matmuls
from benchmarks.gpu_elements import activations, moves, reductions, sums, updates
from benchmarks.gpu_products import products
from benchmarks.gpu_rows import norms, softmaxes
from benchmarks.gpu_timing import Launch, medians, sets_for
from benchmarks.results import Results, Row
from benchmarks.running import end, run_benchmark
from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.gpu.driver import DriverError
from tileas_xdsl.runtime.kernel_launcher import target_of

TUNING_ROUNDS = 3
MAKERS = (
    *(activations, sums, moves, reductions, updates, softmaxes, norms),
    *(matmuls, products, attentions),
)


class WrongResultError(Exception):
    """A kernel that computes something else."""


def cases(
    target: str, only: Sequence[str], names: Container[str] | None = None, parts: bool = False
) -> Iterator[Case]:
    """All, or those whose names have one of these texts, and are among `names`.

    With `parts` they are those of the ablation.
    """
    for maker in (ablations,) if parts else MAKERS:
        for case in maker(target):
            if names is not None and case.name not in names:
                continue
            if not only or any(text in f"{case.group} {case.name}" for text in only):
                yield case


def _chosen(options: argparse.Namespace) -> Iterator[Case]:
    """Those that the options ask for."""
    names = None if options.before is None else [row.name for row in _before(options)]
    yield from cases(target_of(gpu()), options.only, names, options.ablation)


def _before(options: argparse.Namespace) -> Sequence[Row]:
    """The rows of an older run that are measured again."""
    return Results.read(options.before).rows


def measured(case: Case, rounds: int) -> Row:
    """Return the fastest variant's rate by implementation; may raise `WrongResultError`."""
    sets = [case.data() for _ in range(sets_for(case.size))]
    reference = _reference(case, sets[0])
    names: dict[str, str] = {}
    launches: dict[str, Launch] = {}
    for who, variants in {"ours": case.ours, **case.others}.items():
        right = {
            name: launch
            for name, launch in variants.items()
            if _is_usable(case, f"{who} {name}", launch, sets[0], reference)
        }
        if right:
            names[who] = _fastest(right, sets)
            launches[who] = right[names[who]]
    if "ours" not in launches:
        raise WrongResultError(f"{case.name}: no variant of ours runs")
    if case.copied:
        launches["copy"] = partial(_copied, case.copied)
    found = medians(launches, sets, rounds)
    facts: dict[str, float | str] = {"ms": found["ours"], "our tiles": names["ours"]}
    if names.get("Triton"):
        facts["Triton's"] = names["Triton"]
    rates = {who: case.rate(ms) for who, ms in found.items()}
    others = [rate for who, rate in rates.items() if who not in ("ours", "copy")]
    facts["of the best"] = round(rates["ours"] / max(others, default=rates["ours"]), 2)
    if case.copied and "copy" in found:
        rates["copy"] = 2 * sets[0][case.copied].nbytes / found["copy"] / 1e6
    return Row(case.group, case.name, rates.pop("ours"), case.unit, rates, facts=facts)


def beside(row: Row, before: Mapping[str, Row]) -> Row:
    """A row with what an older run has for it: our number, and those of others not measured now."""
    if (old := before.get(row.name)) is None or old.unit != row.unit:
        return row
    missing = {who: rate for who, rate in old.others.items() if who not in row.others}
    return replace(row, others={"before": old.value, **row.others, **missing})


def _copied(name: str, d: Data) -> None:
    d["out"].view(-1).copy_(d[name].view(-1))


def _reference(case: Case, data: Data) -> Any:
    """What torch makes of the first data."""
    variants = next(iter(case.others.values()))
    return _result(next(iter(variants.values())), data).clone()


def _result(launch: Launch, data: Data) -> Any:
    made = launch(data)
    return data["out"] if made is None else made


def _is_usable(case: Case, name: str, launch: Launch, data: Data, reference: Any) -> bool:
    """Whether a variant runs; raises `WrongResultError` if its result is wrong."""
    data["out"].fill_(case.before)
    try:
        found = _result(launch, data)
    except Exception as error:
        print(f"{case.name}: {name}: {type(error).__name__}: {error}".splitlines()[0], flush=True)
        return False
    error = float((found.float() - reference.float()).norm() / reference.float().norm())
    if not error <= case.tolerance:
        raise WrongResultError(f"{case.name}: {name}: an error of {error:.2e} of the norm")
    return True


def _fastest(variants: Mapping[str, Launch], sets: Sequence[Data]) -> str:
    if len(variants) == 1:
        return next(iter(variants))
    found = medians(variants, sets, TUNING_ROUNDS)
    return min(found, key=found.__getitem__, default=next(iter(variants)))


def measure(wrong: list[str], options: argparse.Namespace) -> Iterator[Row]:
    """Yield a row for each case as soon as it is measured; `wrong` gets the other ones."""
    import torch

    start = perf_counter()
    compile_with(options.changed)
    if options.part:
        _launch_part(options)
        return
    if options.ahead:
        _launch_ahead(options)
    torch.manual_seed(0)
    before = {} if options.before is None else {row.name: row for row in _before(options)}
    for case in _chosen(options):
        if perf_counter() - start > options.seconds:
            print(f"{case.group}, {case.name}: not reached", flush=True)
            continue
        try:
            row = measured(case, options.rounds)
        except WrongResultError as error:
            print(error, flush=True)
            wrong.append(str(error))
            continue
        row = beside(row, before)
        rates = ", ".join(f"{who} {rate:.0f}" for who, rate in row.others.items())
        print(f"{row.group}, {row.name}: {row.value:.0f} {row.unit}; {rates}", flush=True)
        yield row
        torch.cuda.empty_cache()


def _launch_ahead(options: argparse.Namespace) -> None:
    """Fill the caches of compilers: processes take turns at the cases, and time nothing."""
    words = [word for text in options.only for word in ("--only", text)]
    words += [] if options.before is None else ["--before", str(options.before)]
    words += ["--ablation"] if options.ablation else []
    command = [sys.executable, __file__, *words]
    parts = [f"{part}/{options.ahead}" for part in range(options.ahead)]
    running = [
        subprocess.Popen([*command, "--part", part], stdout=subprocess.DEVNULL) for part in parts
    ]
    for process in running:
        process.wait()


def _launch_part(options: argparse.Namespace) -> None:
    """Launch every N-th variant once, `part` is `I/N`."""
    import torch

    mine, count = map(int, options.part.split("/"))
    numbers = itertools.count()
    for case in _chosen(options):
        others = (launch for them in case.others.values() for launch in them.values())
        variants = [*case.ours.values(), *others]
        launches = [launch for launch in variants if next(numbers) % count == mine]
        if launches:
            data = case.data()
            for launch in launches:
                with suppress(Exception):
                    launch(data)
            torch.cuda.synchronize()


def add_options(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    parser.add_argument("--only", action="append", default=[], metavar="TEXT")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--pass", action="append", default=[], metavar="PASSES", dest="changed")
    parser.add_argument("--before", type=Path, metavar="OLD.json")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--ahead", type=int, default=0, metavar="PROCESSES")
    parser.add_argument("--seconds", type=float, default=600.0)
    parser.add_argument("--part", help=argparse.SUPPRESS)


def main(words: Sequence[str] | None = None) -> int:
    """Measure; 1 without a GPU or torch, or where a result is wrong."""
    try:
        name = gpu().name
        target_of(gpu())
    except DriverError as error:
        print(f"benchmarks/gpu.py: {error}", file=sys.stderr)
        return 1
    if find_spec("torch") is None:
        print("benchmarks/gpu.py: needs torch, to compare with: pip install torch", file=sys.stderr)
        return 1
    wrong: list[str] = []
    facts = {"GPU": name}
    code = run_benchmark(__doc__, partial(measure, wrong), add_options, words, lambda: facts)
    print(*(f"benchmarks/gpu.py: {one}" for one in wrong), sep="\n", end="", file=sys.stderr)
    return 1 if wrong else code


if __name__ == "__main__":
    end(main)

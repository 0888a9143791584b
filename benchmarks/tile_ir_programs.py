"""Random programs of Tile IR on every level: `python benchmarks/tile_ir_programs.py COUNT`.

What a program means (`tileas_xdsl.interpreters.cuda_tile`) is compared with its tiles and with its
PTX on the emulator, for both targets.  Prints how many are right, the refusals by reason, and for
each class of differences a program that was shrunk.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import repeat
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.random_tile_ir import Verdict, judge, random_program, shrunk
from tests.support.random_tile_ir.judge import TARGETS, Kind
from tests.support.random_tile_ir.program import Program
from tests.support.random_tile_ir.writing import written
from tileas_xdsl.executors import executor_named


def minimal(program: Program, verdict: Verdict, targets: Sequence[str]) -> tuple[Program, Verdict]:
    """A smaller program with a verdict of the same kind at the same level."""
    last = verdict

    def still(smaller: Program) -> bool:
        nonlocal last
        found = judge(smaller, targets)
        same = (found.kind, found.level) == (verdict.kind, verdict.level)
        if same and verdict.kind is Kind.REFUSED:
            same = found.reason == verdict.reason
        if same:
            last = found
        return same

    return shrunk(program, still), last


def judged(seed: int, targets: Sequence[str]) -> Verdict:
    """What becomes of a program."""
    return judge(random_program(seed), targets)


def main() -> int:
    """Run the programs; 1 where one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("count", type=int)
    parser.add_argument("--seed", type=int, default=0, help="the seed of the first program")
    parser.add_argument("--target", action="append", choices=TARGETS, help="by default both")
    parser.add_argument("--executor", default="serial", help="processes:4, dask://HOST:PORT")
    parser.add_argument("--shrink", type=int, default=5, help="so many wrong programs are shrunk")
    asked = parser.parse_args()
    targets = tuple(asked.target or TARGETS)
    start = perf_counter()
    seeds = range(asked.seed, asked.seed + asked.count)
    with executor_named(asked.executor) as executor:
        verdicts = dict(zip(seeds, executor.map(judged, seeds, repeat(targets)), strict=True))
    print(*summary(verdicts, perf_counter() - start), sep="\n", flush=True)
    wrong = [seed for seed, verdict in verdicts.items() if verdict.kind is Kind.WRONG]
    for seed in wrong[: asked.shrink]:
        program, verdict = minimal(random_program(seed), verdicts[seed], targets)
        print(f"\n// seed {seed}: {verdict.level}: {verdict.detail}, grid {program.blocks}")
        print(written(program).text, flush=True)
    return 1 if wrong else 0


def summary(verdicts: dict[int, Verdict], seconds: float) -> Iterable[str]:
    """How many programs had each verdict, and why."""
    kinds = Counter(verdict.kind for verdict in verdicts.values())
    yield f"{len(verdicts)} random programs in {seconds:.0f} s"
    yield from (f"  {kind:10} {kinds[kind]:5}" for kind in Kind)
    reasons: dict[tuple[Kind, str, str], list[int]] = defaultdict(list)
    for seed, verdict in verdicts.items():
        if verdict.kind is not Kind.RIGHT:
            reasons[verdict.kind, verdict.level, verdict.reason].append(seed)
    for (kind, level, reason), seeds in sorted(reasons.items(), key=lambda item: -len(item[1])):
        yield f"  {len(seeds):5} {kind} {level}: {reason} (seeds {seeds[:4]})"


if __name__ == "__main__":
    sys.exit(main())

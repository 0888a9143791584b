"""Each operation of Tile IR x element type x mode on every level: `benchmarks/tile_ir_forms.py`.

Each form that the verifier takes is compiled for both targets; what it means
(`tileas_xdsl.interpreters.cuda_tile`) is compared with its tiles and with its PTX on the emulator.
With `--closed PATH` the assembler at PATH is asked whether it takes what is refused here.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.support.random_tile_ir.judge import TARGETS, Kind
from tests.support.tile_ir_forms import FAMILIES, Form, kernel_of
from tests.support.tile_ir_forms.judging import is_form, judged
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.frontend.bytecode.writing.writer import write_bytecode
from tileas_xdsl.installed import registered_context


def is_taken(form: Form, closed: str, target: str) -> str:
    """Whether another assembler takes a form: `taken`, or its message."""
    module = parse_module(registered_context(), kernel_of([form]).text)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "form.tileirbc")
        source.write_bytes(write_bytecode(module))
        gpu = target.rstrip("a")
        command = [closed, f"--gpu-name={gpu}", str(source), "-o", str(Path(folder, "form.cubin"))]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    return "taken" if ended.returncode == 0 else (ended.stderr or "refused").splitlines()[0][:120]


def main() -> int:
    """Judge forms; 1 where one is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("families", nargs="*", choices=[*FAMILIES, []], help="by default all")
    parser.add_argument("--target", action="append", choices=TARGETS, help="by default both")
    parser.add_argument("--only", default="", help="forms whose names contain this text")
    parser.add_argument("--closed", default="", help="the path of another assembler to compare")
    asked = parser.parse_args()
    start, counts = perf_counter(), Counter[str]()
    for family in asked.families or FAMILIES:
        forms = [f for f in FAMILIES[family]() if asked.only in f.name and is_form(f)]
        for target in asked.target or TARGETS:
            for form, verdict in judged(forms, target):
                counts[verdict.kind] += 1
                if verdict.kind is Kind.RIGHT:
                    continue
                refused = verdict.kind is Kind.REFUSED and asked.closed
                other = f" [{is_taken(form, asked.closed, target)}]" if refused else ""
                where = verdict.level or target
                print(
                    f"{verdict.kind:10} {where}: {form.name}: {verdict.reason}{other}", flush=True
                )
    print(dict(counts), f"{perf_counter() - start:.0f} s")
    return 1 if counts[Kind.WRONG] else 0


if __name__ == "__main__":
    sys.exit(main())

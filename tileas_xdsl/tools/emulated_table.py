"""The page `docs/ptx_emulated.md`: which instructions of the PTX ISA the emulator executes.

python -m tileas_xdsl.tools.emulated_table > docs/ptx_emulated.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import cache

from tileas_xdsl.interpreters.ptx.instructions import find_semantics
from tileas_xdsl.interpreters.ptx.instructions.not_emulated import why_not
from tileas_xdsl.target.isa.forms import InstructionForm
from tileas_xdsl.target.isa.index import INSTRUCTIONS, is_named
from tileas_xdsl.target.isa.table import TABLE

HEAD = """# Instructions that the emulator executes

Written by `python -m tileas_xdsl.tools.emulated_table` from the sections of the PTX ISA
(`tileas_xdsl/target/isa/index.py`), the table of forms ([ptx_isa.md](ptx_isa.md)) and the semantics
in `tileas_xdsl/interpreters/ptx/instructions/`. An instruction that is not executed stops a run
before it starts, at its line, with the reason. `make isa-sweep` decodes every form of the others.

"""


def is_executed(name: str) -> bool:
    """Return whether an instruction has forms, semantics and no reason against it."""
    parts = tuple(name.split("."))
    return bool(forms_of(name)) and why_not(parts) is None and _has_semantics(name)


@cache
def forms_of(name: str) -> Sequence[InstructionForm]:
    """Return the rows of the table that spell an instruction."""
    rows = TABLE.rows(name.split(".")[0])
    return [row for row in rows if is_named([row.mnemonic, *sorted(row.vocabulary)], name)]


def _has_semantics(name: str) -> bool:
    opcodes = (form.spell(next(form.opcodes())) for form in forms_of(name))
    return any(find_semantics(tuple(opcode.split("."))) for opcode in opcodes)


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    names = [name for group in INSTRUCTIONS.values() for name in group]
    executed = [name for name in names if is_executed(name)]
    yield f"{HEAD}{len(executed)} of {len(names)} are executed.\n\n"
    yield "| section | executed | refused |\n|---|---|---|\n"
    for section, group in INSTRUCTIONS.items():
        done = [f"`{name}`" for name in group if is_executed(name)]
        refused = dict[str, list[str]]()
        for name in group:
            if not is_executed(name):
                refused.setdefault(why_not(name.split(".")) or "", []).append(f"`{name}`")
        why = "; ".join(f"{', '.join(some)}: {reason}" for reason, some in refused.items())
        yield f"| {section} | {', '.join(done)} | {why} |\n"


def main() -> None:
    """Write the page to standard output."""
    sys.stdout.writelines(page())


if __name__ == "__main__":
    main()

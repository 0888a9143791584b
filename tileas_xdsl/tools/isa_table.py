"""The page `docs/ptx_isa.md`: the table of PTX instruction forms.

python -m tileas_xdsl.tools.isa_table > docs/ptx_isa.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from tileas_xdsl.target.arch import TARGETS
from tileas_xdsl.target.isa.forms import InstructionForm
from tileas_xdsl.target.isa.table import FAMILIES

HEAD = """# PTX instruction forms

Written by `python -m tileas_xdsl.tools.isa_table` from `tileas_xdsl/target/isa/`, which the `ptx`
dialect, its printer and the emulator read. The notation is that of the PTX ISA: parts in braces may
be missing; a part that the column *words* lists is one of those words. Operands are explained in
`tileas_xdsl/target/isa/forms.py`.
"""


def _row(form: InstructionForm) -> str:
    words = "; ".join(
        f"{slot.name}: {', '.join(slot.words)}" for slot in form.slots if slot.words != (slot.name,)
    )
    names = [name for name, target in TARGETS.items() if form.requirement.met_by(target)]
    where = "all" if len(names) == len(TARGETS) else ", ".join(names)
    major, minor = form.requirement.version
    version = f"{major}.{minor}" if major > 1 else ""
    cells = (f"`{form.syntax}`", f"`{form.operands}`" * bool(form.operands), words, version, where)
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    yield HEAD
    for family in FAMILIES:
        yield f"\n## {family.__name__.rsplit('.', 1)[-1].replace('_', ' ').capitalize()}\n\n"
        yield f"{(family.__doc__ or '').partition('Source: ')[2].strip()}\n\n"
        yield "| form | operands | words | PTX | targets |\n|---|---|---|---|---|\n"
        yield from dict.fromkeys(map(_row, family.FORMS))


def main() -> None:
    """Write the page to standard output."""
    sys.stdout.writelines(page())


if __name__ == "__main__":
    main()

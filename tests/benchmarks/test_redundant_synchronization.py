"""Reasons of mutants that nothing is found in, and the table of them."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.redundant_synchronization import reason
from benchmarks.synchronization_mutants import mutants

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "benchmarks" / "foreign_mutants.tsv"
MATMUL = ROOT / "tests" / "interpreters" / "ptx" / "data" / "triton_matmul.ptx"

KERNEL = """.entry k()
{
    @%p mbarrier.init.shared.b64 [%r], 1;
    bar.sync 0;
    @%p mbarrier.arrive.shared.b64 _, [%r];
    bar.sync 0;
    add.u32 %r1, %r1, 1;
    bar.sync 0;
    ld.shared.u32 %r1, [%r2];
    bar.sync 0;
    st.shared.u32 [%r2], %r1;
    ret;
}
"""


def test_barriers_by_what_is_around_them() -> None:
    found = [reason(KERNEL, what) for what, _ in mutants(KERNEL) if "delete bar" in what]
    assert [re.sub(r"[0-9]+", "N", why)[:40] for why in found] == [
        "one thread does mbarrier.init.shared.bN ",
        "no shared or tensor memory is used until",
        "no shared or tensor memory is used since",
        "no conflict is left unordered: ld.shared",
    ]


def test_barriers_after_a_wait_for_wgmma() -> None:
    text = MATMUL.read_text(encoding="utf-8")
    why = reason(text, "line 555: delete bar.sync 0;")
    assert why == "each warp has waited for the wgmma, which ends the reads of the whole warpgroup"


def test_the_table_has_a_reason_for_each_mutant_that_the_page_counts() -> None:
    rows = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]
    page = (ROOT / "docs" / "checker.md").read_text(encoding="utf-8")
    counted = re.search(r"The other (\d+) are redundant", page)
    assert counted is not None
    assert len(rows) == int(counted[1])
    assert all(len(row) == 4 and row[3] for row in rows)

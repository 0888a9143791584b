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
    for version in ("3.6", "3.9"):
        counted = re.search(rf"{re.escape(version)},? (\d+) of (\d+)(?: mutants|, all by)", page)
        assert counted is not None
        rest = int(counted[2]) - int(counted[1])
        assert sum(row[0] == version for row in rows) == rest
    assert all(len(row) == 5 and row[4] for row in rows)


def test_a_wait_that_comes_too_late_is_no_wait() -> None:
    text = """
    tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r1, %r2}, [%r3];
    st.shared.b32 [%r4], %r2;
    tcgen05.wait::ld.sync.aligned;
    """
    why = reason(text, "line 4: delete tcgen05.wait::ld.sync.aligned;")
    assert why.startswith("line 3 uses what the loads give")

"""Which copies of a pipelined loop run ahead, and that the others do not."""

from __future__ import annotations

import pytest

from tests.support.ir import parse
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.transforms.lower_tl.pipelining.prefetchable_copies import stages_of

SHARED = "memref<32xf32, #tl<space shared>>"
FRAGMENT = "memref<32xf32, #tl<space fragment>>"
COPY = f"tl.copy %A[%k] to %s : memref<?xf32> to {SHARED}"
READ = f"tl.copy %s to %f : {SHARED} to {FRAGMENT}"


def _stages(body: str, behind: str = "", stages: int = 3, before: str = "") -> list[int]:
    module = parse(f"""
func.func @k(%A: memref<?xf32>, %n: index) {{
  tl.kernel threads(32) {{
    %zero = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %one = arith.constant 1.0 : f32
    %s = tl.alloc_shared : {SHARED}
    %f = tl.alloc_fragment : {FRAGMENT}
    {before}
    tl.pipelined %k = %zero to %n step %c32 stages({stages}) {{
      {body}
    }}
    {behind}
  }}
  func.return
}}""")
    kernel = next(op for op in module.walk() if isinstance(op, KernelOp))
    return list(stages_of(kernel).values())


def test_a_copy_that_alone_fills_a_buffer_runs_ahead() -> None:
    assert _stages(f"{COPY}\n{READ}") == [3]


def test_where_it_reads_may_be_computed() -> None:
    at = "%at = arith.addi %k, %c32 : index"
    assert _stages(f"{at}\n{COPY.replace('%k', '%at')}\n{READ}") == [3]


REFUSED = {
    "one stage": (f"{COPY}\n{READ}", "", 1),
    "read before it is filled": (f"{READ}\n{COPY}", "", 3),
    "read behind the loop": (f"{COPY}\n{READ}", READ, 3),
    "filled twice": (f"{COPY}\n{READ}\ntl.fill %s, %one : {SHARED}", "", 3),
    "its array is written": (
        f"{COPY}\n{READ}\ntl.copy %f to %A[%k] : {FRAGMENT} to memref<?xf32>",
        "",
        3,
    ),
    "where it reads is read": (
        "tl.parallel (%i) in (1) {\n memref.store %one, %A[%i] : memref<?xf32>\n }\n"
        f"%x = memref.load %A[%k] : memref<?xf32>\n%y = arith.fptosi %x : f32 to i32\n"
        f"%z = arith.index_cast %y : i32 to index\n{COPY.replace('%k', '%z')}\n{READ}",
        "",
        3,
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_others_stay_in_their_round(why: str) -> None:
    body, behind, stages = REFUSED[why]
    assert _stages(body, behind, stages) == []


def test_an_array_that_was_written_before_is_read_in_its_round() -> None:
    """Threads synchronise in between, which a prefetching copy would not wait for."""
    write = f"tl.fill %f, %one : {FRAGMENT}\ntl.copy %f to %A[%zero] : {FRAGMENT} to memref<?xf32>"
    assert _stages(f"{COPY}\n{READ}", before=write) == []

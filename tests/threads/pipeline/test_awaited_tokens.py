"""Which paths from asynchronous work to the end of a block wait for it."""

from __future__ import annotations

import pytest

from tests.support.ir import parse
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp
from tileas_xdsl.threads.pipeline.awaited_tokens import is_awaited_within

KERNEL = """
func.func @k(%a: !t, %c: !sums, %before: !late, %i: index, %p: i1) {
  scf.for %j = %i to %i step %i {
    BODY
    scf.yield
  }
  func.return
}
"""
DOT = "%dot = nv_tileas.async.dot %a, %a, %c : !t, !t, !sums -> !late"
WAIT = "%x = nv_tileas.async.wait %dot : !late -> !sums"
CARRIED = f"""
    %last = scf.for %n = %i to %i step %i iter_args(%old = %before) -> (!late) {{
      {DOT}
      IN
      scf.yield %dot : !late
    }}
    BEHIND
"""
IN = "%y = nv_tileas.async.wait %old : !late -> !sums"
BEHIND = "%z = nv_tileas.async.wait %last : !late -> !sums"
IN_BRANCH = f"scf.if %p {{ {BEHIND} }}"
TYPES = {
    "!late": "!nv_tileas.token<tensor<64x64xf32>>",
    "!sums": "tensor<64x64xf32>",
    "!t": "tensor<64x64xf16, #nv_tileas<space smem>>",
}


def carried(inside: str, behind: str) -> str:
    return CARRIED.replace("IN", inside, 1).replace("BEHIND", behind)


@pytest.mark.parametrize(
    ("body", "is_awaited"),
    [
        (f"{DOT}\n{WAIT}", True),
        (DOT, False),
        (f"scf.if %p {{ {DOT}\n{WAIT} }}", True),
        (f"{DOT}\nscf.if %p {{ {WAIT} }}", False),
        (carried(IN, BEHIND), True),
        (carried(IN, ""), False),
        (carried("", BEHIND), False),
        (carried(IN, IN_BRANCH), False),
    ],
    ids=[
        "in its block",
        "nowhere",
        "in its branch",
        "in one branch only",
        "in the next iteration and behind the last",
        "not behind the last",
        "not in the next iteration",
        "behind the last in one branch only",
    ],
)
def test_every_path_waits(body: str, is_awaited: bool) -> None:
    text = KERNEL.replace("BODY", body)
    for alias, type_ in TYPES.items():
        text = text.replace(alias, type_)
    module = parse(text)
    dot = next(op for op in module.walk() if isinstance(op, AsyncDotOp))
    loop = next(op for op in module.walk() if op.name == "scf.for")
    assert is_awaited_within(dot.result, loop.regions[0].block) is is_awaited

"""Kernels with marked places, each of which makes one fault of a right kernel.

A mark is `<<right -> wrong ?? kind>>` or, where the fault is to leave something out,
`<<right ?? kind>>`; the kinds (one of which has to be found) are separated by commas.  The right
twin of all faults of a kernel is the text with the right side of every mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx import Finding, load, run
from tileas_xdsl.interpreters.ptx.execution.state import Order

HEAD = """.version 8.7
.target {target}
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 b) {limits}
{{
    .reg .pred %p<16>; .reg .b16 %h<16>; .reg .b32 %r<64>; .reg .f32 %f<64>; .reg .b64 %rd<32>;
    .reg .b32 %t, %l, %w, %c, %s, %mine, %next, %one, %rank; .reg .b64 %a, %b, %ga, %gb;
    .shared .align 1024 .b8 sm[{shared}];
    mov.u32 %t, %tid.x; mov.u32 %l, %laneid; mov.u32 %c, %ctaid.x; mov.u32 %rank, %cluster_ctarank;
    shr.u32 %w, %t, 5; mov.u32 %s, sm; mov.u32 %one, 1;
    mad.lo.u32 %mine, %t, 4, %s; mov.u32 %r63, %ntid.x; add.u32 %r62, %t, 32;
    rem.u32 %r62, %r62, %r63; mad.lo.u32 %next, %r62, 4, %s;
    ld.param.u64 %a, [a]; ld.param.u64 %b, [b];
    mad.lo.u32 %r62, %c, %r63, %t; mul.wide.u32 %rd31, %r62, 4;
    add.u64 %ga, %a, %rd31; add.u64 %gb, %b, %rd31;
"""
"""Indices: thread %t, lane %l, warp %w, block %c; addresses: shared %s, of the thread %mine, of the
same lane of the next warp %next; arrays %a and %b, and elements %ga and %gb of the thread."""

MARK = re.compile(r"<<(.*?)(?:->(.*?))?\?\?([^>]*)>>", re.DOTALL)


@dataclass(frozen=True)
class Planted:
    """A right kernel with marks, and how it is launched."""

    name: str
    body: str
    block: int = 64
    grid: int = 1
    cluster: int | None = None
    target: str = "sm_90a"
    shared: int = 4096
    orders: Sequence[tuple[Order, int]] = (("eager", 0), ("lazy", 0), ("random", 1))
    options: dict[str, Any] = field(default_factory=dict[str, Any])
    limits: str = ""
    """Directives of the kernel."""

    @property
    def faults(self) -> Iterator[tuple[str, str, frozenset[str]]]:
        """What is changed, the text with one fault, and the kinds of which one is found."""
        for number, mark in enumerate(MARK.finditer(self.body)):
            right, wrong, kinds = (part or "" for part in mark.groups())
            name = f"{self.name}: {' '.join(right.split())} -> {' '.join(wrong.split())}"
            yield name, self.text(number), frozenset(k.strip() for k in kinds.split(","))

    def text(self, fault: int | None = None) -> str:
        """The PTX with the wrong side of one mark, or of none."""
        count = iter(range(1000))

        def side(mark: re.Match[str]) -> str:
            return (mark[2] or "") if next(count) == fault else mark[1]

        body = MARK.sub(side, self.body)
        head = HEAD.format(target=self.target, shared=self.shared, limits=self.limits)
        return f"{head}{body}\nDONE:\n    ret;\n}}\n"

    def findings(self, text: str) -> list[Finding]:
        """The findings of all orders."""
        found: dict[tuple[str, int], Finding] = {}
        module = load(text, f"{self.name}.ptx")
        for order, seed in self.orders:
            arrays = [np.arange(1024, dtype=np.uint32), np.zeros(1024, np.uint32)]
            report = run(
                module,
                "k",
                arrays,
                self.grid,
                self.block,
                self.cluster,
                order=order,
                seed=seed,
                limit=100_000,
                **self.options,
            )
            for finding in report.findings:
                found.setdefault((finding.kind, finding.line), finding)
        return [*found.values()]

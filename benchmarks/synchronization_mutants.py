"""Mutants of PTX text, each with one synchronisation left out or changed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

DELETED = (
    r"bar\.|barrier\.|fence\.|membar|mbarrier\.(init|inval|arrive|expect_tx)|cp\.async\.wait|"
    r"cp\.async\.commit|cp\.async\.bulk\.(wait|commit)|wgmma\.(fence|commit|wait)|"
    r"tcgen05\.(wait|fence|commit|dealloc)"
)
"""Instructions that are left out, one at a time."""

CHANGES: Sequence[tuple[str, str]] = (
    (r"(wait_group(?:\.read|\.sync\.aligned)?\s+)0\b", r"\g<1>1"),
    (r"(wait_group(?:\.read|\.sync\.aligned)?\s+)1\b", r"\g<1>2"),
    (r"\bbar\.sync(\s+)0\b", r"bar.warp.sync\g<1>-1"),
    (r"(mbarrier\.init\S*\s+\[[^]]*\],\s*)1\b", r"\g<1>2"),
    (r"(expect_tx\S*\s+_,\s*\[[^]]*\],\s*)(\d+)", r"\g<1>16"),
    (r"\.(acq_rel|release|acquire)\.(gpu|sys)", ".relaxed.gpu"),
    (r"\b(atom|red)\.(\S*)\.(gpu|sys)\.", r"\1.\2.cta."),
    (r"(@!?\S+\s+bra(?:\.uni)?\s+\S*(?:wait|skip|loop)\S*;)", r"// \1"),
    (r"(shfl\.sync\.\S+\s+.*,\s*)-1;", r"\g<1>1;"),
)
"""Instructions that are changed: waits that wait for less, barriers of a warp only, weaker orders,
wrong counts and masks, waits that do not loop."""


def mutants(text: str) -> Iterator[tuple[str, str]]:
    """What is changed, and the text with the change."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        code = line.split("//")[0]
        every = [(f"delete {m.group().strip()}", code.replace(m.group(), "", 1))
                 for m in re.finditer(rf"(@!?\S+\s+)?\b({DELETED})[^;]*;", code)]  # fmt: skip
        for pattern, new in CHANGES:
            changed = re.sub(pattern, new, code, count=1)
            if changed != code:
                every.append((f"{code.strip()} -> {changed.strip()}", changed))
        for what, changed in every:
            yield (
                f"line {number + 1}: {what}",
                "\n".join([*lines[:number], changed, *lines[number + 1 :]]),
            )

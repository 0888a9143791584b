"""Layouts and instructions that each operation could work with, and what they cost.

Read `candidate_lists.py` first (a candidate, its cost, the choice), then `registers.py`, which
proposes register layouts for a group of tiles.

`dot/`       what products want: instruction, CTA pairs, accumulators in registers, wgmma fragments
`memory/`    buffers in shared and tensor memory, how threads access them, rows on the other side
here         groups that follow others: copies, views, lines that are broadcast, row values
"""

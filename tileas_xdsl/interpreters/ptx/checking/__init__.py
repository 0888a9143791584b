"""The race checker: vector clocks, shadow memory, findings and their diagnosis.

Read `vector_clocks.py` (who has seen what), `shadow_memory.py` (the last accesses of every part of
a memory), `checker.py` (an access is compared with those before it), then

`shared_memory/`   whole tiles in O(1), layouts that TMA left, flags and locks of a cluster
`global_memory/`   all blocks of a launch: shadow of buffers, release and acquire (PTX ISA 8)
`reports/`         the kinds of findings, and the words for conflicts, barriers and deadlocks
"""

"""Which block dominates which inside one region.

The iterative algorithm of Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001),
then entry and exit numbers of the tree, so that each question costs O(1).
"""

from __future__ import annotations

from xdsl.ir import Block, Region


class DominatorTree:
    """The dominator tree of the blocks of `region` that its entry block reaches."""

    _entry: dict[Block, int]
    _exit: dict[Block, int]

    def __init__(self, region: Region) -> None:
        order = _reverse_postorder(region)
        number = {block: index for index, block in enumerate(order)}
        immediate = _immediate_dominators(order, number)
        self._entry, self._exit = _number_tree(order, immediate)

    def is_reachable(self, block: Block) -> bool:
        """Does any path from the entry block lead to `block`?"""
        return block in self._entry

    def dominates(self, a: Block, b: Block) -> bool:
        """Is `a` on every path from the entry to `b`?  Any block dominates an unreachable one."""
        if b not in self._entry:
            return True
        if a not in self._entry:
            return False
        return self._entry[a] <= self._entry[b] and self._exit[b] <= self._exit[a]


def _successors(block: Block) -> list[Block]:
    if (last := block.last_op) is None:
        return []
    return [successor for successor in last.successors if successor.parent is block.parent]


def _reverse_postorder(region: Region) -> list[Block]:
    if (entry := region.blocks.first) is None:
        return []
    postorder: list[Block] = []
    seen = {entry}
    stack = [(entry, iter(_successors(entry)))]
    while stack:
        block, successors = stack[-1]
        following = next((s for s in successors if s not in seen), None)
        if following is None:
            postorder.append(block)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(_successors(following))))
    return postorder[::-1]


def _immediate_dominators(order: list[Block], number: dict[Block, int]) -> list[int]:
    """For each block, by its number, the number of its immediate dominator; the entry's is 0."""
    predecessors: list[list[int]] = [[] for _ in order]
    for index, block in enumerate(order):
        for successor in _successors(block):
            predecessors[number[successor]].append(index)
    unknown = len(order)
    immediate = [0] + [unknown] * (len(order) - 1)
    changed = True
    while changed:
        changed = False
        for index in range(1, len(order)):
            known = [p for p in predecessors[index] if immediate[p] != unknown]
            found = known[0]
            for other in known[1:]:
                found = _common_dominator(immediate, found, other)
            changed |= immediate[index] != found
            immediate[index] = found
    return immediate


def _common_dominator(immediate: list[int], a: int, b: int) -> int:
    while a != b:
        if a > b:
            a = immediate[a]
        else:
            b = immediate[b]
    return a


def _number_tree(
    order: list[Block], immediate: list[int]
) -> tuple[dict[Block, int], dict[Block, int]]:
    """When a depth-first walk of the tree enters and leaves each block."""
    children: list[list[int]] = [[] for _ in order]
    for index in range(1, len(order)):
        children[immediate[index]].append(index)
    entry: dict[Block, int] = {}
    leave: dict[Block, int] = {}
    clock = 0
    stack = [(0, False)] if order else []
    while stack:
        index, done = stack.pop()
        (leave if done else entry)[order[index]] = clock
        clock += 1
        if not done:
            stack.append((index, True))
            stack.extend((child, False) for child in children[index])
    return entry, leave

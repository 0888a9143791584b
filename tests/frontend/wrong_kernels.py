# pyright: basic, reportArgumentType=false, reportAttributeAccessIssue=false
"""cuTile Python kernels that must not compile; a comment `HERE` marks the error's line.

The module needs the package cuda-tile.
"""

import inspect

import cuda.tile as ct


@ct.kernel
def no_power_of_two(x):
    ct.store(x, (0,), ct.load(x, (0,), (12,)))  # HERE


@ct.kernel
def unknown_name(x):
    ct.store(x, (0,), ct.loadd(x, (0,), (16,)))  # HERE


@ct.kernel
def wrong_axis(x):
    ct.store(x, (0,), ct.sum(ct.load(x, (0,), (16,)), axis=3))  # HERE


@ct.kernel
def too_large(x):
    tile = ct.load(x, (0,), (1 << 20,))  # HERE
    ct.store(x, (0,), tile)


@ct.kernel
def product_of_many_sums(x):
    tile = ct.astype(ct.load(x, (0,), (256,)), ct.float16)
    sums = ct.full((256, 512), 0, dtype=ct.float32)
    sums = ct.mma(ct.reshape(tile, (256, 1)), ct.full((1, 512), 1, dtype=ct.float16), sums)  # HERE
    ct.store(x, (0,), ct.sum(sums, axis=1))


@ct.kernel
def prints_text(x):
    ct.printf("%s", ct.load(x, (0,), (16,)))  # HERE


def helper(tile):
    ct.printf("%s", tile)  # HERE
    return tile


@ct.kernel
def in_a_helper(x):
    ct.store(x, (0,), helper(ct.load(x, (0,), (16,))))


DOUBLED = {"all": lambda tile: tile + tile}["all"]


@ct.kernel
def function_without_a_name(x):
    ct.store(x, (0,), DOUBLED(ct.load(x, (0,), (16,))))  # HERE


@ct.kernel
def assigned_behind_its_use(x):
    tile = ct.load(x, (0,), (16,))
    total = carried = tile
    for j in range(2):
        other = tile
        for k in range(2):
            if k > 0:
                other = other - carried  # HERE
        total = total + other
        carried = total
        if j > 0:
            total = total - tile
    ct.store(x, (0,), total)


def place_of(kernel) -> tuple[str, int]:
    """Return file and line of a kernel's error; for `in_a_helper` those of its helper."""
    function = helper if kernel is in_a_helper else kernel._annotated_function.pyfunc
    lines, first = inspect.getsourcelines(function)
    [line] = [number for number, line in enumerate(lines, first) if "# HERE" in line]
    return inspect.getsourcefile(function) or "", line

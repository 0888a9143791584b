"""Read and write arrays of more than 4 GB at their ends on a GPU: run this file.

Needs torch and 14 GB of GPU memory.  The emulator checks the same kernels with memory for a part of
the array alone (`tests/threads/gmem/test_far_addresses.py`).
"""

import cuda.tile as ct
import torch

import tileas_xdsl as tileas


@ct.kernel
def last_tiles(x, y, i, j, k, m):
    """Copies a tile of an array of four dimensions."""
    tile = ct.load(x, (i, j, k, m), (1, 1, 16, 64), padding_mode=ct.PaddingMode.ZERO)
    ct.store(y, (i, j, k, m), tile + 1)


@ct.kernel
def bytes_apart(x: ct.IndexedWithInt64, y: ct.IndexedWithInt64):
    """Copies tiles of an array of more than 2^32 bytes."""
    ct.store(y, (ct.bid(0),), ct.load(x, (ct.bid(0),), (4096,)))


def four_dimensions() -> None:
    """6 GB of f16, the last tile of 1x1x16x64."""
    x = torch.zeros((3, 64, 4096, 4096), dtype=torch.float16, device="cuda")
    y = torch.zeros((3, 64, 4096, 4096), dtype=torch.float16, device="cuda")
    x[-1, -1, -16:, -64:] = torch.rand((16, 64), device="cuda", dtype=torch.float16)
    tileas.launch(torch.cuda.current_stream(), (1,), last_tiles, (x, y, 2, 63, 255, 63))
    torch.cuda.synchronize()
    assert torch.equal(y[-1, -1, -16:, -64:], x[-1, -1, -16:, -64:] + 1)
    assert int((y != 0).sum()) == 16 * 64


def more_than_32_bits() -> None:
    """2^32 + 100 bytes, all of them."""
    extent = (1 << 32) + 100
    x = torch.randint(-100, 100, (extent,), dtype=torch.int8, device="cuda")
    y = torch.zeros_like(x)
    tileas.launch(torch.cuda.current_stream(), (-(-extent // 4096),), bytes_apart, (x, y))
    torch.cuda.synchronize()
    assert torch.equal(x, y)


if __name__ == "__main__":
    for check in (four_dimensions, more_than_32_bits):
        check()
        torch.cuda.empty_cache()
        print(f"{check.__name__}: right")

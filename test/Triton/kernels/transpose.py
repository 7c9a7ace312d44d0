# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiles of 32 by 32 through shared memory, whose rows have one number more than they need.

The twin has no barrier between the tile's stores and loads.
"""

DIRECTIVES = True


def transpose_kernel(k, x: "*f32", out: "*f32", m: "i32", n: "i32"):
    row, column = k.program_id(0) << 5, k.program_id(1) << 5
    y, at = k.tid >> 3, (k.tid & 7) << 2
    tile = k.smem(0)
    for down in (0, 16):
        values = k.load(x + (row + y + down) * n + (column + at), count=4)
        for side, v in enumerate(values):
            # RACY-DAG: transpose.py:[[#@LINE+1]]:
            k.store_shared(tile + (y + down) * 33 + (at + side), v)
    if not k.racy:
        k.barrier()
    for down in (0, 16):
        # RACY-DAG: transpose.py:[[#@LINE+1]]:
        values = [k.load_shared(tile + (at + side) * 33 + (y + down)) for side in range(4)]
        k.store(out + (column + y + down) * m + (row + at), values)

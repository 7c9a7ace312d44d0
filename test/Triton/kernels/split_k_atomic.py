# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""c += a * b, where several programs of a tile have a part of the depth each.

The twin adds with a load and a store.
"""

from standard import accumulator_places, load_products


def split_k_atomic_kernel(k, a: "*f16", b: "*f16", c: "*f32", n: "i32", depth: "i32",
                          part: "i32"):
    row, column = k.program_id(0) << 6, k.program_id(1) << 5
    begin = k.program_id(2) * part
    acc = load_products(k, a + row * depth + begin, b + begin * n + column, depth, n, part, 2)
    for value, (y, x) in zip(zip(acc[::2], acc[1::2]), accumulator_places(k)):
        at = c + (row + y) * n + (column + x)
        for side in (0, 1):
            if k.racy:
                # RACY-DAG: split_k_atomic.py:[[#@LINE+1]]:
                old = k.load(at + side)
                # RACY-DAG: split_k_atomic.py:[[#@LINE+1]]:
                k.store(at + side, old + value[side])
            else:
                k.atomic("add.f32", at + side, value[side], k.value(1, "i1"))

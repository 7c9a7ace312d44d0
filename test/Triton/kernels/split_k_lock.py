# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""c += a * b, where the programs of a tile add their parts under the tile's lock.

The twin takes the lock with relaxed order.
"""

from standard import accumulator_places, load_products


def split_k_lock_kernel(k, a: "*f16", b: "*f16", c: "*f32", locks: "*i32", n: "i32",
                        depth: "i32", part: "i32"):
    row, column = k.program_id(0) << 6, k.program_id(1) << 5
    begin = k.program_id(2) * part
    acc = load_products(k, a + row * depth + begin, b + begin * n + column, depth, n, part, 2)
    lock = locks + k.program_id(0) * k.num_programs(1) + k.program_id(1)
    order = "relaxed" if k.racy else "acquire"
    k.repeat_while(lambda: k.compare_and_swap(lock, 0, 1, 12288, order).equals(1))
    for part, (y, x) in enumerate(accumulator_places(k)):
        at = c + (row + y) * n + (column + x)
        # RACY-DAG: split_k_lock.py:[[#@LINE+1]]:
        old = k.load(at, count=2)
        # RACY-DAG: split_k_lock.py:[[#@LINE+1]]:
        k.store(at, [acc[2 * part] + old[0], acc[2 * part + 1] + old[1]])
    k.barrier()
    k.atomic("exch.b32", lock, k.value(0, "i32"), k.tid.equals(0), order="release")

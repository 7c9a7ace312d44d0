# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sum of all numbers: each block stores its sum, and the last one adds them up.

The twin counts the blocks with relaxed order.
"""

from standard import total


def last_block_kernel(k, x: "*f32", sums: "*f32", done: "*i32", out: "*f32", n: "i32"):
    block = k.program_id(0)
    at = block * 512 + (k.tid << 2)
    mine = total(k, k.load(x + at, at < n, 4))
    first = k.tid.equals(0)
    # RACY-DAG: last_block.py:[[#@LINE+1]]:
    k.store(sums + block, mine, first)
    k.barrier()
    order = "relaxed" if k.racy else "acq_rel"
    before = k.atomic("add.s32", done, k.value(1, "i32"), first, order)
    k.store_shared(k.smem(16, "i32"), before, first)
    k.barrier()
    count = k.num_programs(0)
    with k.when(k.load_shared(k.smem(16, "i32")).equals(count - 1)):
        # RACY-DAG: last_block.py:[[#@LINE+1]]:
        part = k.load(sums + k.tid, k.tid < count)
        k.store(out, total(k, [part]), first)

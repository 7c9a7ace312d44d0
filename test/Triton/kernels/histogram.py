# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts of 128 kinds: a block counts in shared memory, and adds its counts to those of all.

The twin adds with a load and a store.
"""


def histogram_kernel(k, x: "*i32", counts: "*i32", n: "i32"):
    bins = k.smem(0, "i32")
    k.store_shared(bins + k.tid, k.value(0, "i32"))
    k.barrier()
    first = k.program_id(0) * 512 + (k.tid << 2)
    mask = first < n
    with k.when(mask):
        for kind in k.load(x + first, mask, 4):
            k.add_shared(bins + kind, k.value(1, "i32"))
    k.barrier()
    mine = k.load_shared(bins + k.tid)
    some = mine > 0
    if k.racy:
        # RACY-DAG: histogram.py:[[#@LINE+1]]:
        old = k.load(counts + k.tid, some)
        # RACY-DAG: histogram.py:[[#@LINE+1]]:
        k.store(counts + k.tid, old + mine, some)
    else:
        k.atomic("add.s32", counts + k.tid, mine, some, order="relaxed")

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The 16 largest of each row of 128: a bitonic sort, whose far exchanges go through memory.

The twin lets a warp store its next numbers while others read those before.
"""

DIRECTIVES = True


def exchange(k, value, distance):
    """The number of the thread whose index differs in one bit."""
    if distance < 32:
        return k.shuffle("bfly", value, distance)
    place = k.smem(0, "i32")
    # RACY-DAG: top_k.py:[[#@LINE+1]]:
    k.store_shared(place + k.tid, value)
    k.barrier()
    # RACY-DAG: top_k.py:[[#@LINE+1]]:
    other = k.load_shared(place + (k.tid ^ distance))
    if not k.racy:
        k.barrier()
    return other


def top_k_kernel(k, x: "*i32", out: "*i32"):
    value = k.load(x + k.program_id(0) * 128 + k.tid)
    size = 2
    while size <= 128:
        distance = size // 2
        while distance:
            other = exchange(k, value, distance)
            is_low = (k.tid & distance).equals(0)
            falls = (k.tid & size).equals(0)
            keep_larger = is_low.equals(falls)
            larger, smaller = k.maximum(value, other), k.minimum(value, other)
            value = k.select(keep_larger, larger, smaller)
            distance //= 2
        size *= 2
    k.store(out + k.program_id(0) * 16 + k.tid, value, k.tid < 16)

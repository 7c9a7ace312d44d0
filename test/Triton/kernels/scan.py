# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums of each row of 512 numbers up to each of its elements.

The twin reads the warps' sums without a barrier.
"""


def scan_kernel(k, x: "*i32", out: "*i32"):
    first = k.program_id(0) * 512 + (k.tid << 2)
    sums = k.load(x + first, count=4)
    for n in (1, 2, 3):
        sums[n] = sums[n - 1] + sums[n]
    lane, warp = k.tid & 31, k.tid >> 5
    whole = sums[3]
    for distance in (1, 2, 4, 8, 16):
        below = k.shuffle("up", whole, distance)
        whole = k.select(lane >= distance, whole + below, whole)
    places = k.smem(0, "i32")
    # RACY-DAG: scan.py:[[#@LINE+1]]:
    k.store_shared(places + warp, whole, lane.equals(31))
    if not k.racy:
        k.barrier()
    before = whole - sums[3]
    # RACY-DAG: scan.py:[[#@LINE+1]]:
    for earlier, part in enumerate(k.load_shared(places, 4)[:3]):
        before = k.select(warp > earlier, before + part, before)
    k.store(out + first, [s + before for s in sums])

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sum of 1024 numbers a block, and the largest.

The twin reads the warps' sums without a barrier.
"""

from standard import add, largest, reduce

DIRECTIVES = True


def reduction_kernel(k, x: "*f32", sums: "*f32", tops: "*f32", n: "i32"):
    first = k.program_id(0) * 1024 + (k.tid << 2)
    values = []
    for at in (first, first + 512):
        values += k.load(x + at, at < n, 4)
    # RACY: standard.py:{{[0-9]+}}:
    # RACY: reduction.py:[[#@LINE+1]]:
    whole = reduce(k, values, add, scratch=0, racy=k.racy)
    top = largest(k, values, scratch=16)
    k.store(sums + k.program_id(0), whole, k.tid.equals(0))
    k.store(tops + k.program_id(0), top, k.tid.equals(0))

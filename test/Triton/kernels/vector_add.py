# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""out = x + y"""


def add_kernel(k, x: "*f32", y: "*f32", out: "*f32", n: "i32"):
    first = k.program_id(0) * 1024 + (k.tid << 2)
    for offset in (first, first + 512):
        mask = offset < n
        a = k.load(x + offset, mask, 4)
        b = k.load(y + offset, mask, 4)
        k.store(out + offset, [p + q for p, q in zip(a, b)], mask)

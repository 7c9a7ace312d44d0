# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A row of up to 512 numbers a block."""

from standard import largest, total

DIRECTIVES = True


def softmax_kernel(k, out: "*f32", x: "*f32", stride: "i32", columns: "i32"):
    row = k.program_id(0)
    column = k.tid << 2
    mask = column < columns
    values = k.load(x + row * stride + column, mask, 4, other=-float("inf"))
    top = largest(k, values)
    powers = [k.exp(v - top) for v in values]
    k.barrier()
    whole = total(k, powers)
    k.store(out + row * stride + column, [p / whole for p in powers], mask)

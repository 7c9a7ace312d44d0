# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A row a block, of any number of columns: mean, variance, and what becomes of the row."""

from standard import total


def layer_norm_kernel(k, x: "*f32", y: "*f32", weight: "*f32", bias: "*f32", mean: "*f32",
                      rstd: "*f32", stride: "i32", columns: "i32", epsilon: "f32"):
    row = k.program_id(0)
    x, y = x + row * stride, y + row * stride
    lane = k.tid << 2
    sums = [k.variable(0.0) for _ in range(4)]
    with k.range(0, columns, 512) as first:
        column = first + lane
        for s, v in zip(sums, k.load(x + column, column < columns, 4, evict="evict_last")):
            s.value = s.value + v
    average = total(k, [s.value for s in sums]) / columns.to("float")
    k.barrier()
    squares = [k.variable(0.0) for _ in range(4)]
    with k.range(0, columns, 512) as first:
        column = first + lane
        mask = column < columns
        for s, v in zip(squares, k.load(x + column, mask, 4)):
            d = k.select(mask, v - average, 0.0)
            s.value = s.value + d * d
    variance = total(k, [s.value for s in squares]) / columns.to("float")
    scale = k.rsqrt(variance + epsilon)
    k.store(mean + row, average, k.tid.equals(0))
    k.store(rstd + row, scale, k.tid.equals(0))
    with k.range(0, columns, 512) as first:
        column = first + lane
        mask = column < columns
        v = k.load(x + column, mask, 4, evict="evict_first")
        w = k.load(weight + column, mask, 4)
        b = k.load(bias + column, mask, 4)
        k.store(y + column, [(v[n] - average) * scale * w[n] + b[n] for n in range(4)], mask)

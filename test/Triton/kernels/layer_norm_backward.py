# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""dx of a row a block, and partial sums of dw and db, which rows of a group add under a lock.

The twin releases the lock before all warps of the block have stored.
"""

from standard import total


def layer_norm_backward_kernel(k, dx: "*f32", dy: "*f32", dw: "*f32", db: "*f32", x: "*f32",
                               weight: "*f32", mean: "*f32", rstd: "*f32", locks: "*i32",
                               stride: "i32", columns: "i32", groups: "i32"):
    row = k.program_id(0)
    column = k.tid << 2
    mask = column < columns
    at = row * stride + column
    v, g = k.load(x + at, mask, 4), k.load(dy + at, mask, 4)
    w = k.load(weight + column, mask, 4)
    average, scale = k.load(mean + row), k.load(rstd + row)
    hat = [k.select(mask, (e - average) * scale, 0.0) for e in v]
    wdy = [k.select(mask, p * q, 0.0) for p, q in zip(w, g)]
    n = columns.to("float")
    c1 = total(k, [p * q for p, q in zip(hat, wdy)]) / n
    c2 = total(k, wdy, scratch=16) / n
    k.store(dx + at, [(q - (p * c1 + c2)) * scale for p, q in zip(hat, wdy)], mask)

    group = row % groups
    lock, count = locks + group, locks + groups + group
    sums_w, sums_b = dw + group * columns + column, db + group * columns + column
    k.repeat_while(lambda: k.compare_and_swap(lock, 0, 1, scratch=32).equals(1))
    first = k.load(count).equals(0)
    old_w = k.load(sums_w, mask & (first ^ 1), 4)
    # RACY-DAG: layer_norm_backward.py:[[#@LINE+1]]:
    old_b = k.load(sums_b, mask & (first ^ 1), 4)
    k.barrier()
    with k.when(first):
        k.atomic("exch.b32", count, k.value(1, "i32"), k.tid.equals(0))
    k.store(sums_w, [p * q + o for p, q, o in zip(g, hat, old_w)], mask)
    # RACY-DAG: layer_norm_backward.py:[[#@LINE+1]]:
    k.store(sums_b, [p + o for p, o in zip(g, old_b)], mask)
    if not k.racy:
        k.barrier()
    k.atomic("exch.b32", lock, k.value(0, "i32"), k.tid.equals(0))

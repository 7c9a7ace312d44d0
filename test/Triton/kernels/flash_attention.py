# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""out = softmax(q * k') * v for 64 queries a program, keys and values in tiles of 32."""

from standard import (accumulator_places, copy_tile, fragment, maximum, add, multiply,
                      reduce_in_warp, zeros)

Q, K, V = 0, 4096, 6144


def scores(k):
    """q * k' for a warp's 16 queries and a tile of 32 keys."""
    products = zeros(k, 16)
    for depth in (0, 16):
        q = fragment(k, k.smem(Q, "i8"), (k.tid >> 5) << 4, depth)
        for half in (0, 1):
            keys = fragment(k, k.smem(K, "i8"), k.value(16 * half, "i32"), depth)
            multiply(k, q, [keys[0], keys[2]], products, 2 * half)
            multiply(k, q, [keys[1], keys[3]], products, 2 * half + 1)
    return [v.value for v in products]


def add_weighted(k, powers, acc):
    """acc += powers * v: the powers are in registers as the operand wants them."""
    for half in (0, 1):
        p = powers[8 * half:8 * half + 8]
        a = [k.half_pair(p[n], p[n + 1]) for n in (0, 2, 4, 6)]
        for side in (0, 1):
            v = fragment(k, k.smem(V, "i8"), k.value(16 * half, "i32"), 16 * side, True)
            multiply(k, a, [v[0], v[1]], acc, 2 * side)
            multiply(k, a, [v[2], v[3]], acc, 2 * side + 1)


def flash_attention_kernel(k, q: "*f16", keys: "*f16", v: "*f16", out: "*f16", scale: "f32",
                           length: "i32"):
    head = k.program_id(1) * length * 32
    q, keys, v, out = q + head, keys + head, v + head, out + head
    first = k.program_id(0) << 6
    copy_tile(k, k.smem(Q, "i8"), q + first * 32, 32, 64)
    acc = zeros(k, 16)
    top = [k.variable(-float("inf")) for _ in (0, 1)]
    sums = zeros(k, 2)
    log_scale = scale * 1.44269504
    with k.range(0, length, 32) as key:
        copy_tile(k, k.smem(K, "i8"), keys + key * 32, 32, 32)
        copy_tile(k, k.smem(V, "i8"), v + key * 32, 32, 32)
        k.commit_group()
        k.wait_group(0)
        k.barrier()
        s = [e * log_scale for e in scores(k)]
        powers = [None] * 16
        for upper in (0, 1):
            mine = [4 * tile + 2 * upper + side for tile in range(4) for side in (0, 1)]
            best = s[mine[0]]
            for n in mine[1:]:
                best = k.maximum(best, s[n])
            old = top[upper].value
            new = k.maximum(old, reduce_in_warp(k, best, maximum, 4))
            shrink = k.exp2(old - new)
            top[upper].value = new
            whole = sums[upper].value * shrink
            for n in mine:
                powers[n] = k.exp2(s[n] - new)
                whole = whole + powers[n]
                acc[n].value = acc[n].value * shrink
            sums[upper].value = whole
        add_weighted(k, powers, acc)
        k.barrier()
    values = [v.value for v in acc]
    whole = [reduce_in_warp(k, s.value, add, 4) for s in sums]
    for n, (row, column) in enumerate(accumulator_places(k)):
        pair = k.half_pair(values[2 * n] / whole[n & 1], values[2 * n + 1] / whole[n & 1])
        k.store(out + (row + first) * 32 + column, pair)

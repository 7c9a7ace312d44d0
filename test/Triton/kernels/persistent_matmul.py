# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""c = a * b of halves, by programs that take tile after tile."""

from standard import cdiv, load_products, store_tile


def persistent_matmul_kernel(k, a: "*f16", b: "*f16", c: "*f32", m: "i32", n: "i32",
                             depth: "i32"):
    across = cdiv(n, 32)
    with k.range(k.program_id(0), cdiv(m, 64) * across, k.num_programs(0)) as tile:
        row, column = tile // across, tile % across
        acc = load_products(k, a + row * 64 * depth, b + column * 32, depth, n, depth, 2)
        store_tile(k, c + row * 64 * n + column * 32, n, acc)

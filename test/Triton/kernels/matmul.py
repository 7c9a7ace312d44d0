# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""c = a * b of halves, in tiles of 64 by 32; copies are two tiles ahead of the products.

The twin does not wait for its copies.
"""

from standard import cdiv, load_products, store_tile

DIRECTIVES = True


def matmul_kernel(k, a: "*f16", b: "*f16", c: "*f32", m: "i32", n: "i32", depth: "i32"):
    # Tiles that share rows or columns run one after the other, for the cache's sake.
    program, across = k.program_id(0), cdiv(n, 32)
    group_size = across * 2
    group = program // group_size
    row = group * 2 + (program % group_size) % k.minimum(cdiv(m, 64) - group * 2, 2)
    column = (program % group_size) // k.minimum(cdiv(m, 64) - group * 2, 2)
    a, b = a + row * 64 * depth, b + column * 32
    # RACY-DAG: matmul.py:[[#@LINE+1]]:
    acc = load_products(k, a, b, depth, n, depth, stages=3, racy=k.racy)
    store_tile(k, c + row * 64 * n + column * 32, n, acc)

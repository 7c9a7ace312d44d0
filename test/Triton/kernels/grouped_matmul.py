# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Several products of different sizes in one launch; each program takes every so many tiles."""

from standard import cdiv, load_products, store_tile


def grouped_matmul_kernel(k, a_addresses: "*i64", b_addresses: "*i64", c_addresses: "*i64",
                          sizes: "*i32", count: "i32"):
    tile = k.variable(k.program_id(0))
    end = k.variable(0, "i32")
    with k.range(0, count) as problem:
        at = sizes + problem * 3
        m, n, depth = k.load(at), k.load(at + 1), k.load(at + 2)
        begin, across = end.value, cdiv(n, 32)
        end.value = begin + cdiv(m, 64) * across
        a = k.pointer(k.load(a_addresses + problem), "half")
        b = k.pointer(k.load(b_addresses + problem), "half")
        c = k.pointer(k.load(c_addresses + problem), "float")
        mine = cdiv(end.value - tile.value, 1)
        with k.range(0, cdiv(k.maximum(mine, 0), k.num_programs(0))):
            inside = tile.value - begin
            row, column = inside // across, inside % across
            acc = load_products(k, a + row * 64 * depth, b + column * 32, depth, n, depth, 2)
            store_tile(k, c + row * 64 * n + column * 32, n, acc)
            tile.value = tile.value + k.num_programs(0)

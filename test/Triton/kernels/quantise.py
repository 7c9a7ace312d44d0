# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of up to 512 floats become bytes, with one scale a row."""

from standard import largest


def quantise_kernel(k, x: "*f32", out: "*i8", scales: "*f32", stride: "i32", columns: "i32"):
    row, column = k.program_id(0), k.tid << 2
    mask = column < columns
    values = k.load(x + row * stride + column, mask, 4)
    scale = largest(k, [k.absolute(v) for v in values]) / 127.0
    k.store(scales + row, scale, k.tid.equals(0))
    numbers = [k.round_to_int(v / scale) for v in values]
    k.store(out + row * stride + column, numbers, mask)

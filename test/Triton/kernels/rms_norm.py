# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A row of up to 1024 bfloats a block."""

from standard import total

TARGET = "sm_90"


def rms_norm_kernel(k, x: "*bf16", weight: "*bf16", out: "*bf16", stride: "i32",
                    columns: "i32", epsilon: "f32"):
    row, column = k.program_id(0), k.tid << 3
    mask = column < columns
    values = [v.to("float") for v in k.load(x + row * stride + column, mask, 8)]
    mean = total(k, [v * v for v in values]) / columns.to("float")
    scale = k.rsqrt(mean + epsilon)
    w = [v.to("float") for v in k.load(weight + column, mask, 8)]
    normal = [v * scale * u for v, u in zip(values, w)]
    pairs = [k.bfloat_pair(normal[n], normal[n + 1]) for n in range(0, 8, 2)]
    k.store(out + row * stride + column, pairs, mask)

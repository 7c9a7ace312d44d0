# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Elements are dropped where a random number, of a seed and the element's place, says so."""


def philox(k, seed, counter):
    """The first of four random words: ten rounds of products."""
    zero = k.value(0, "i32")
    c, key = [counter, zero, zero, zero], [seed, zero]
    for _ in range(10):
        high0 = k.multiply_high(c[0], 0xD2511F53)
        high2 = k.multiply_high(c[2], 0xCD9E8D57)
        c = [high2 ^ c[1] ^ key[0], c[2] * 0xCD9E8D57, high0 ^ c[3] ^ key[1], c[0] * 0xD2511F53]
        key = [key[0] + 0x9E3779B9, key[1] + 0xBB67AE85]
    return c[0]


def uniform(k, word):
    """A number from 0 up to 1."""
    return k.select(word < 0, word ^ -1, word).to("float") * 4.6566127342e-10


def dropout_kernel(k, x: "*f32", out: "*f32", n: "i32", chance: "f32", seed: "i32"):
    first = k.program_id(0) * 512 + (k.tid << 2)
    mask = first < n
    kept = []
    for place, v in enumerate(k.load(x + first, mask, 4)):
        keep = uniform(k, philox(k, seed, first + place)) > chance
        kept.append(k.select(keep, v / (1.0 - chance), 0.0))
    k.store(out + first, kept, mask)

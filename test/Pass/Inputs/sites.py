# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what each check in the LLVM IR on standard input is told of its accesses:

    kernel f
    check
      store size 4 offset 0 space 3 meets 0b10

With the argument --garbage, also which stores take garbage.
"""

import re
import sys

SITE_WORDS = 6  # abi::Site

text = sys.stdin.read()
words = []
if array := re.search(r"@__crsan_sites_\w+ = .*? global \[\d+ x i64\] \[(.*?)\]", text):
    words = [int(w) % 2**64 for w in re.findall(r"i64 (-?\d+)", array.group(1))]


def describe(site):
    _, what, offset = words[site * SITE_WORDS :][:3]
    kind = ("load", "store")[what >> 32 & 0xFF]
    if offset >= 2**63:
        offset -= 2**64
    meets = f" meets {what >> 48 & 0xFF:#b}" if what >> 48 & 0xFF else ""
    value = " with its value" if what >> 56 & 1 else ""
    garbage = " takes garbage" if "--garbage" in sys.argv and what >> 56 & 8 else ""
    return f"{kind} size {what & 0xFFFFFFFF} offset {offset} space {what >> 40 & 0xFF}{meets}{value}{garbage}"


for line in text.splitlines():
    if function := re.match(r"define .*?@(\w+)\(", line):
        if not function.group(1).startswith("__crsan"):
            print("kernel", function.group(1))
    call = re.search(
        r"call i32 @__crsan_check\(.*@__crsan_sites_\w+(?:, i64 (\d+)\))? to ptr\), "
        r"ptr \S+, i32 \S+, i32 (\d+)\)",
        line,
    )
    if call:
        print("check")
        first = int(call.group(1) or 0) // (SITE_WORDS * 8)
        number = int(call.group(2)) & 0xFF  # above it, how many groups the window has
        for site in range(first, first + number):
            print(" ", describe(site))

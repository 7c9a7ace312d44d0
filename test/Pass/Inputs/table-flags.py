# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the names of the flags of the site table in the LLVM IR on standard input."""

import sys

import site_table

flags = site_table.header(sys.stdin.read()).flags
names = ["NoShuffle", "HasCollider", "HasMetadata"]  # abi::ModuleFlags
print("flags", *(name for bit, name in enumerate(names) if flags >> bit & 1))

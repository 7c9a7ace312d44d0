# Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the names of the flags of the site table in the LLVM IR on standard input."""

import re
import struct
import sys

text = re.search(r'@__crsan_table_\w+ = .*? c"([^"]*)"', sys.stdin.read()).group(1)
unescape = lambda m: "\\" if m.group(1) == "\\" else chr(int(m.group(1), 16))
table = re.sub(r"\\(\\|..)", unescape, text).encode("latin-1")
flags = struct.unpack("<IIQ8I", table[:48])[9]
names = ["NoShuffle", "HasCollider", "HasMetadata"]  # abi::ModuleFlags
print("flags", *(name for bit, name in enumerate(names) if flags >> bit & 1))

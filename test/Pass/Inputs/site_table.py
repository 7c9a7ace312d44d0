# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the site table in LLVM IR."""

import collections
import re
import struct

# abi::ModuleHeader
Header = collections.namedtuple("Header", "magic version unit sites windows frames functions "
                                "kernels string_size flags skipped companions exempt variables "
                                "shared_uses omitted checked waiting reserved")


def header(text):
    """The header of the table that the text defines."""
    table = re.search(r'@__crsan_table_\w+ = .*? c"([^"]*)"', text).group(1)
    unescape = lambda m: "\\" if m.group(1) == "\\" else chr(int(m.group(1), 16))
    table = re.sub(r"\\(\\|..)", unescape, table).encode("latin-1")
    return Header(*struct.unpack("<IIQ16I", table[:80]))

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints for each function of an object file of the device's whether it yields, and in
which convergence barrier registers lanes of a parted warp gather."""

import struct
import sys

YIELD, BSSY, END_COLLECTIVE, BSYNC = 0x7946, 0x7945, 0x791B, 0x7941
data = open(sys.argv[1], "rb").read()
(sections,) = struct.unpack_from("<Q", data, 40)
size, number, names = struct.unpack_from("<HHH", data, 58)
headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size) for i in range(number)]


def gatherings(code):
    """The registers of the BSSYs between which and whose BSYNC a collective ends."""
    register, collective = None, False
    for word in code:
        if word & 0xFFFF == BSSY:
            register, collective = word >> 16 & 15, False
        elif word & 0xFFFF == END_COLLECTIVE:
            collective = True
        elif word & 0xFFFF == BSYNC:
            if collective and register == word >> 16 & 15:
                yield register
            register = None


for header in headers:
    at = headers[names][4] + header[0]
    name = data[at : data.index(b"\0", at)].decode()
    if name.startswith(".text."):
        code = [struct.unpack_from("<Q", data, i)[0]
                for i in range(header[4], header[4] + header[5], 16)]
        name = name[len(".text."):]
        print(name, "yields" if YIELD in code else "does not yield")
        for register in sorted(set(gatherings(code))):
            print(name, f"gathers in B{register}")

# Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints for each function of an object file of the device's whether it yields."""

import struct
import sys

YIELD = 0x7946
data = open(sys.argv[1], "rb").read()
(sections,) = struct.unpack_from("<Q", data, 40)
size, number, names = struct.unpack_from("<HHH", data, 58)
headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + i * size) for i in range(number)]
for header in headers:
    at = headers[names][4] + header[0]
    name = data[at : data.index(b"\0", at)].decode()
    if name.startswith(".text."):
        code = range(header[4], header[4] + header[5], 16)
        yields = any(struct.unpack_from("<Q", data, i)[0] == YIELD for i in code)
        print(name[len(".text.") :], "yields" if yields else "does not yield")

"""Prints the least stack, in bytes, that each kernel of a cubin needs with all that it calls
(EIATTR_MIN_STACK_SIZE of .nv.info), and fails if one needs more than is allowed.

    stack.py CUBIN MOST
"""
import struct
import sys

INDEXED, MIN_STACK_SIZE = 4, 0x12


def sections(data):
    begin, = struct.unpack_from("<Q", data, 40)
    number, names = struct.unpack_from("<HH", data, 60)
    headers = [struct.unpack_from("<IIQQQQ", data, begin + 64 * i) for i in range(number)]
    strings = headers[names][4]
    for name, _, _, _, offset, size in headers:
        end = data.index(b"\0", strings + name)
        yield data[strings + name:end].decode(), data[offset:offset + size]


def stacks(info):
    while info:
        form, attribute, size = struct.unpack_from("<BBH", info)
        if form == INDEXED and attribute == MIN_STACK_SIZE:
            yield struct.unpack_from("<II", info, 4)[1]
        info = info[4 + (size if form == INDEXED else 0):]


found = list(stacks(dict(sections(open(sys.argv[1], "rb").read()))[".nv.info"]))
print("stack:", *found)
sys.exit(0 if found and max(found) <= int(sys.argv[2]) else 1)

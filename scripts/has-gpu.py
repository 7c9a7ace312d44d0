#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exits 0 if the NVIDIA driver initialises and reports a device, else 1."""

import ctypes
import sys


def has_gpu():
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    count = ctypes.c_int(0)
    return (
        cuda.cuInit(0) == 0
        and cuda.cuDeviceGetCount(ctypes.byref(count)) == 0
        and count.value > 0
    )


if __name__ == "__main__":
    sys.exit(0 if has_gpu() else 1)

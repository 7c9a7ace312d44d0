# Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole patterns of synchronisation, on arrays of their own.

Each is written where all threads of the block are.
"""
from barriers import (double_buffer, masks, phase_object, reduction, scan, specialised,
                      turns, warp_pairs)
from copies import async_copy
from handshakes import (chain, claim, grid_barrier, last_block, message, queue, spin_lock,
                        warp_lock)
from owners import bit_fields, histogram, indirect, peers, strided, two_sizes, views

# In this order a seed means what it has always meant.
ALL = [spin_lock, message, message, chain, last_block, grid_barrier, claim, queue,
       reduction, scan, double_buffer, turns, histogram, strided, specialised,
       async_copy, peers, indirect, bit_fields, warp_lock, phase_object, masks,
       warp_pairs, views, two_sizes]

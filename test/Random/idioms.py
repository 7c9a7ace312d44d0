# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole patterns of synchronisation, on arrays of their own.

Each is written where all threads of the block are.
"""
from barriers import (double_buffer, masks, phase_object, reduction, scan, specialised,
                      turns, warp_pairs)
from bulk import bulk_load, bulk_store
from clusters import exchange, remote_adds
from copies import async_copy
from handshakes import (chain, claim, grid_barrier, last_block, message, queue, spin_lock,
                        warp_lock)
from groups import ballot_masks, partition, present, tiles
from matrices import matrix_move
from meetings import called, fork, ragged, spin, tree, two_doors
from owners import bit_fields, histogram, indirect, peers, strided, two_sizes, views

# Those whose results do not depend on the schedule.
STEADY = [tree, tree, tree, ragged, ragged, fork, fork, two_doors, called, called, spin,
          tiles, tiles, partition, present, present, ballot_masks, reduction, scan,
          double_buffer, turns, histogram, strided, specialised, async_copy, peers,
          indirect, bit_fields, phase_object, masks, warp_pairs, views, bulk_load, bulk_store,
          exchange, exchange, remote_adds, matrix_move]
ALL = [*STEADY, spin_lock, message, message, chain, last_block, grid_barrier, claim,
       queue, warp_lock, two_sizes]

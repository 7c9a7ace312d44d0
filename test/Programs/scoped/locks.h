// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks of two scopes for a warp.
//
// All lanes of a warp call these: the first one locks, for all of them.
#ifndef CRSAN_TEST_PROGRAMS_LOCKS_H
#define CRSAN_TEST_PROGRAMS_LOCKS_H

#include "atomics.h"

#ifdef BLOCK_LOCK
#define SWAP atomicCAS_block
#define FENCE __threadfence_block
#define EXCHANGE atomicExch_block
#endif
#ifndef SWAP
#define SWAP atomicCAS
#endif
#ifndef FENCE
#define FENCE __threadfence
#endif
#ifndef EXCHANGE
#define EXCHANGE atomicExch
#endif

__device__ inline void lockInBlock(unsigned *Lock) {
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS_block(Lock, 0, 1) != 0)
      ;
    __threadfence_block();
  }
  __syncwarp();
}

__device__ inline void unlockInBlock(unsigned *Lock) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    __threadfence_block();
    atomicExch_block(Lock, 0);
  }
}

__device__ inline void lock(unsigned *Lock) {
  if (threadIdx.x % 32 == 0) {
    while (SWAP(Lock, 0, 1) != 0) // RACE: lock-block lock-swap lock-exchange
      ;
    FENCE();
  }
  __syncwarp();
}

__device__ inline void unlock(unsigned *Lock) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    FENCE();
    EXCHANGE(Lock, 0); // RACE: lock-block lock-swap lock-exchange
  }
}

#endif // CRSAN_TEST_PROGRAMS_LOCKS_H

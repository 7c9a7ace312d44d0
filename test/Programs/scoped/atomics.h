// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Atomics on the line that calls them.
//
// CUDA's atomics on unsigned integers, as macros, because of two things in Clang:
//   * They are functions in its headers, and PTX has only the line in there.
//   * Its atomicCAS is a fence.sc and an acquire of system scope, where nvcc's is
//     relaxed: a missing fence after it would be no race. (Clang drops the
//     scope of the builtin below, which makes it the system's.)
#ifndef CRSAN_TEST_PROGRAMS_ATOMICS_H
#define CRSAN_TEST_PROGRAMS_ATOMICS_H

#ifdef __clang__
#define CRSAN_RELAXED __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE
#define atomicAdd(P, V) __scoped_atomic_fetch_add(P, V, CRSAN_RELAXED)
#define atomicAdd_block(P, V) unsigned(__nvvm_atom_cta_add_gen_i((int *)(P), V))
#define atomicMin(P, V) __scoped_atomic_fetch_min(P, V, CRSAN_RELAXED)
#define atomicMin_block(P, V) __nvvm_atom_cta_min_gen_ui(P, V)
#define atomicExch(P, V) __scoped_atomic_exchange_n(P, V, CRSAN_RELAXED)
#define atomicExch_block(P, V)                                                 \
  unsigned(__nvvm_atom_cta_xchg_gen_i((int *)(P), V))
#define atomicCAS(P, Old, New)                                                 \
  ({                                                                           \
    unsigned Read = (Old);                                                     \
    __scoped_atomic_compare_exchange_n(P, &Read, New, false, __ATOMIC_RELAXED, \
                                       __ATOMIC_RELAXED,                       \
                                       __MEMORY_SCOPE_DEVICE);                 \
    Read;                                                                      \
  })
#define atomicCAS_block(P, Old, New)                                           \
  unsigned(__nvvm_atom_cta_cas_gen_i((int *)(P), Old, New))
#endif

/// A fence that is missing.
__device__ inline void nothing() {}

#endif // CRSAN_TEST_PROGRAMS_ATOMICS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strong accesses with an order.
//
// PTX's strong accesses of device scope, with the order as an argument. They are
// macros, so that a report names the line that uses one, and take less time to
// compile than <cuda/atomic>.
#ifndef CRSAN_TEST_PROGRAMS_ORDERS_H
#define CRSAN_TEST_PROGRAMS_ORDERS_H

#include <cstdint>

#define ORDERS_TEXT(X) #X

/// The value of the 32-bit word at P: LOAD(acquire, P).
#define LOAD(Order, P)                                                         \
  ({                                                                           \
    unsigned Read_;                                                            \
    asm volatile("ld." ORDERS_TEXT(Order) ".gpu.u32 %0, [%1];"                 \
                 : "=r"(Read_)                                                 \
                 : "l"(P)                                                      \
                 : "memory");                                                  \
    Read_;                                                                     \
  })

#define STORE(Order, P, Value)                                                 \
  asm volatile("st." ORDERS_TEXT(Order) ".gpu.u32 [%0], %1;" ::"l"(P),         \
               "r"(unsigned(Value))                                            \
               : "memory")

/// The old value; Op is add, exch, min, or, ...: UPDATE(acq_rel, add.u32, P, 1).
#define UPDATE(Order, Op, P, Value)                                            \
  ({                                                                           \
    unsigned Read_;                                                            \
    asm volatile("atom." ORDERS_TEXT(Order) ".gpu." #Op " %0, [%1], %2;"       \
                 : "=r"(Read_)                                                 \
                 : "l"(P), "r"(unsigned(Value))                                \
                 : "memory");                                                  \
    Read_;                                                                     \
  })

/// Compares with Old and stores New: the value that was there.
#define SWAP(Order, P, Old, New)                                               \
  ({                                                                           \
    unsigned Read_;                                                            \
    asm volatile("atom." ORDERS_TEXT(Order) ".gpu.cas.b32 %0, [%1], %2, %3;"   \
                 : "=r"(Read_)                                                 \
                 : "l"(P), "r"(unsigned(Old)), "r"(unsigned(New))              \
                 : "memory");                                                  \
    Read_;                                                                     \
  })

#define LOAD64(Order, P)                                                       \
  ({                                                                           \
    uint64_t Read_;                                                            \
    asm volatile("ld." ORDERS_TEXT(Order) ".gpu.u64 %0, [%1];"                 \
                 : "=l"(Read_)                                                 \
                 : "l"(P)                                                      \
                 : "memory");                                                  \
    Read_;                                                                     \
  })

#define STORE64(Order, P, Value)                                               \
  asm volatile("st." ORDERS_TEXT(Order) ".gpu.u64 [%0], %1;" ::"l"(P),         \
               "l"(uint64_t(Value))                                            \
               : "memory")

#define SWAP64(Order, P, Old, New)                                             \
  ({                                                                           \
    uint64_t Read_;                                                            \
    asm volatile("atom." ORDERS_TEXT(Order) ".gpu.cas.b64 %0, [%1], %2, %3;"   \
                 : "=l"(Read_)                                                 \
                 : "l"(P), "l"(uint64_t(Old)), "l"(uint64_t(New))              \
                 : "memory");                                                  \
    Read_;                                                                     \
  })

#define FENCE(Order)                                                           \
  asm volatile("fence." ORDERS_TEXT(Order) ".gpu;" ::: "memory")

// What a racy twin lacks is, as a rule, the order of one access.
#ifdef RACY
#define RELEASE_UNLESS_RACY relaxed
#define ACQUIRE_UNLESS_RACY relaxed
#else
#define RELEASE_UNLESS_RACY release
#define ACQUIRE_UNLESS_RACY acquire
#endif

#endif // CRSAN_TEST_PROGRAMS_ORDERS_H

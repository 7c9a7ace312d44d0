//===- Memory.h - The runtime's own loads and stores -----------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In assembly: clang would put fences around atomics, and the pass must take
// none of this for the program's.
//
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_COMMON_MEMORY_H
#define CRSAN_DEVICE_COMMON_MEMORY_H

#include "common/Device.h"

namespace crsan::device {

DEVICE uint64_t loadRelaxed(const uint64_t &From) {
  uint64_t Value;
  asm volatile("ld.relaxed.gpu.u64 %0, [%1];"
               : "=l"(Value)
               : "l"(&From)
               : "memory");
  return Value;
}
DEVICE void storeRelaxed(uint64_t &To, uint64_t Value) {
  asm volatile("st.relaxed.gpu.u64 [%0], %1;" ::"l"(&To), "l"(Value)
               : "memory");
}
DEVICE uint64_t compareAndSwap(uint64_t &Where, uint64_t Expected,
                               uint64_t Desired) {
  uint64_t Found;
  asm volatile("atom.relaxed.gpu.cas.b64 %0, [%1], %2, %3;"
               : "=l"(Found)
               : "l"(&Where), "l"(Expected), "l"(Desired)
               : "memory");
  return Found;
}
DEVICE bool exchangeIf(uint64_t &Where, uint64_t Expected, uint64_t Desired) {
  return compareAndSwap(Where, Expected, Desired) == Expected;
}
DEVICE uint64_t exchange(uint64_t &Where, uint64_t Desired) {
  uint64_t Found;
  asm volatile("atom.relaxed.gpu.exch.b64 %0, [%1], %2;"
               : "=l"(Found)
               : "l"(&Where), "l"(Desired)
               : "memory");
  return Found;
}

DEVICE void raise(uint32_t &To, uint32_t Value) {
  asm volatile("red.relaxed.gpu.max.u32 [%0], %1;" ::"l"(&To), "r"(Value)
               : "memory");
}
DEVICE uint32_t loadRelaxed(const uint32_t &From) {
  uint32_t Value;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];"
               : "=r"(Value)
               : "l"(&From)
               : "memory");
  return Value;
}
DEVICE void storeRelaxed(uint32_t &To, uint32_t Value) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(&To), "r"(Value)
               : "memory");
}
/// Of what only threads of this block change: the multiprocessor's cache will
/// do. What is stale makes an access look older than it is, or not yet ordered,
/// and then it is looked at again (judge).
DEVICE uint32_t loadNear(const uint32_t &From) {
  uint32_t Value;
  asm volatile("ld.u32 %0, [%1];" : "=r"(Value) : "l"(&From) : "memory");
  return Value;
}
DEVICE uint64_t loadNear(const uint64_t &From) {
  uint64_t Value;
  asm volatile("ld.u64 %0, [%1];" : "=l"(Value) : "l"(&From) : "memory");
  return Value;
}
DEVICE void setFlags(uint32_t &To, uint32_t Flags) {
  asm volatile("red.relaxed.gpu.or.b32 [%0], %1;" ::"l"(&To), "r"(Flags)
               : "memory");
}
DEVICE void clearFlags(uint32_t &From, uint32_t Flags) {
  asm volatile("red.relaxed.gpu.and.b32 [%0], %1;" ::"l"(&From), "r"(~Flags)
               : "memory");
}
DEVICE uint32_t takeFlags(uint32_t &From) {
  uint32_t Flags;
  asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], 0;"
               : "=r"(Flags)
               : "l"(&From)
               : "memory");
  return Flags;
}
DEVICE void noteSeen(uint64_t &To, uint64_t Bits) {
  if (Bits & ~loadRelaxed(To))
    asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To), "l"(Bits)
                 : "memory");
}
/// As above, of what this thread's warp keeps: it may be there already.
DEVICE void noteSeenNear(uint64_t &To, uint64_t Bits) {
  if (Bits & ~loadNear(To))
    asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To), "l"(Bits)
                 : "memory");
}
DEVICE void fenceDevice() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
/// Leaves the multiprocessor's cache as it is.
DEVICE void fenceBlock() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
/// Of the host's memory.
DEVICE uint32_t loadSystem(const uint32_t &From) {
  uint32_t Value;
  asm volatile("ld.relaxed.sys.u32 %0, [%1];"
               : "=r"(Value)
               : "l"(&From)
               : "memory");
  return Value;
}
DEVICE void fenceSystem() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

/// Of what one thread of the block writes and others read in another order.
DEVICE uint64_t loadAcquire(const uint64_t &From) {
  uint64_t Value;
  asm volatile("ld.acquire.cta.u64 %0, [%1];"
               : "=l"(Value)
               : "l"(&From)
               : "memory");
  return Value;
}
DEVICE void storeRelease(uint64_t &To, uint64_t Value) {
  asm volatile("st.release.cta.u64 [%0], %1;" ::"l"(&To), "l"(Value)
               : "memory");
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_COMMON_MEMORY_H

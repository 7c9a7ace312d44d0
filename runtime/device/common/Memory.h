// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The runtime's own loads and stores.
//
// The accesses are in assembly for two reasons: clang would put fences around
// atomics, and the pass must not take these accesses for the program's.
#ifndef CRSAN_DEVICE_COMMON_MEMORY_H
#define CRSAN_DEVICE_COMMON_MEMORY_H

#include "common/Device.h"

namespace crsan::device {

/// Relaxed accesses of device scope.
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
/// Two words from a multiple of 16 bytes on, each by itself as above.
DEVICE void loadRelaxed(const uint64_t &From, uint64_t &First,
                        uint64_t &Second) {
  asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];"
               : "=l"(First), "=l"(Second)
               : "l"(&From)
               : "memory");
}
DEVICE void storeRelaxed(uint64_t &To, uint64_t First, uint64_t Second) {
  asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(&To), "l"(First),
               "l"(Second)
               : "memory");
}
/// Relaxed atomics of device scope; both return the former value.
DEVICE uint64_t compareAndSwap(uint64_t &Where, uint64_t Expected,
                               uint64_t Desired) {
  uint64_t Found;
  asm volatile("atom.relaxed.gpu.cas.b64 %0, [%1], %2, %3;"
               : "=l"(Found)
               : "l"(&Where), "l"(Expected), "l"(Desired)
               : "memory");
  return Found;
}
/// Compare-and-swap. Returns whether the value was `Expected`.
DEVICE bool exchangeIf(uint64_t &Where, uint64_t Expected, uint64_t Desired) {
  return compareAndSwap(Where, Expected, Desired) == Expected;
}
/// The same, of acquire semantics: later accesses see what a thread did before
/// it wrote the word by storeReleaseDevice(), also if relaxed atomics of the
/// word have followed: these belong to the thread's release.
DEVICE bool exchangeIfAcquire(uint64_t &Where, uint64_t Expected,
                              uint64_t Desired) {
  uint64_t Found;
  asm volatile("atom.acquire.gpu.cas.b64 %0, [%1], %2, %3;"
               : "=l"(Found)
               : "l"(&Where), "l"(Expected), "l"(Desired)
               : "memory");
  return Found == Expected;
}
DEVICE uint64_t exchange(uint64_t &Where, uint64_t Desired) {
  uint64_t Found;
  asm volatile("atom.relaxed.gpu.exch.b64 %0, [%1], %2;"
               : "=l"(Found)
               : "l"(&Where), "l"(Desired)
               : "memory");
  return Found;
}

/// Returns the former value.
DEVICE uint64_t add(uint64_t &To, uint64_t Value) {
  uint64_t Found;
  asm volatile("atom.relaxed.gpu.add.u64 %0, [%1], %2;"
               : "=l"(Found)
               : "l"(&To), "l"(Value)
               : "memory");
  return Found;
}

/// Atomic maximum: clocks only rise.
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
/// Two words from a multiple of 8 bytes on, each by itself.
DEVICE void loadRelaxed(const uint32_t &From, uint32_t &First,
                        uint32_t &Second) {
  asm volatile("ld.relaxed.gpu.v2.u32 {%0, %1}, [%2];"
               : "=r"(First), "=r"(Second)
               : "l"(&From)
               : "memory");
}
DEVICE void storeRelaxed(uint32_t &To, uint32_t Value) {
  asm volatile("st.relaxed.gpu.u32 [%0], %1;" ::"l"(&To), "r"(Value)
               : "memory");
}
/// Drops the lines of the L1 cache, as fenceDevice() does, but does not wait
/// for stores of this thread: reads the word by an acquiring load of device
/// scope.
DEVICE void dropStaleLines(const uint32_t &Word) {
  uint32_t Value;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];"
               : "=r"(Value)
               : "l"(&Word)
               : "memory");
}
/// A releasing store of device scope.
DEVICE void storeReleaseDevice(uint64_t &To, uint64_t Value) {
  asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(&To), "l"(Value)
               : "memory");
}
/// Of memory of the host that the host writes meanwhile.
DEVICE uint64_t loadOfHost(const uint64_t &From) {
  uint64_t Value;
  asm volatile("ld.relaxed.sys.u64 %0, [%1];"
               : "=l"(Value)
               : "l"(&From)
               : "memory");
  return Value;
}
/// For data that only threads of this block change: the L1 cache of the
/// multiprocessor is good enough. A stale value makes an access look older than
/// it is, or not yet ordered, and then `judge` looks again with device-scope
/// loads.
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
/// Sets, or clears, bits by a relaxed atomic of device scope.
DEVICE void setFlags(uint32_t &To, uint32_t Flags) {
  asm volatile("red.relaxed.gpu.or.b32 [%0], %1;" ::"l"(&To), "r"(Flags)
               : "memory");
}
DEVICE void clearFlags(uint32_t &From, uint32_t Flags) {
  asm volatile("red.relaxed.gpu.and.b32 [%0], %1;" ::"l"(&From), "r"(~Flags)
               : "memory");
}
/// Returns the flags and clears them in one step.
DEVICE uint32_t takeFlags(uint32_t &From) {
  uint32_t Flags;
  asm volatile("atom.relaxed.gpu.exch.b32 %0, [%1], 0;"
               : "=r"(Flags)
               : "l"(&From)
               : "memory");
  return Flags;
}
/// Sets bits of a Seen mask (WarpState::Seen) that are not set yet.
DEVICE void noteSeen(uint64_t &To, uint64_t Bits) {
  if (Bits & ~loadRelaxed(To))
    asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To), "l"(Bits)
                 : "memory");
}
/// As noteSeen, for the bits that this thread's own warp keeps: the L1 cache
/// may have them already.
DEVICE void noteSeenNear(uint64_t &To, uint64_t Bits) {
  if (Bits & ~loadNear(To))
    asm volatile("red.relaxed.gpu.or.b64 [%0], %1;" ::"l"(&To), "l"(Bits)
                 : "memory");
}
/// Acquire and release fence of device scope; invalidates the L1 cache.
DEVICE void fenceDevice() { asm volatile("fence.acq_rel.gpu;" ::: "memory"); }
/// Also orders earlier stores before later loads.
DEVICE void fenceSequential() { asm volatile("fence.sc.gpu;" ::: "memory"); }
/// Does not invalidate the L1 cache.
DEVICE void fenceBlock() { asm volatile("fence.acq_rel.cta;" ::: "memory"); }
/// Loads from the host's memory.
DEVICE uint32_t loadSystem(const uint32_t &From) {
  uint32_t Value;
  asm volatile("ld.relaxed.sys.u32 %0, [%1];"
               : "=r"(Value)
               : "l"(&From)
               : "memory");
  return Value;
}
DEVICE void storeSystem(uint32_t &To, uint32_t Value) {
  asm volatile("st.relaxed.sys.u32 [%0], %1;" ::"l"(&To), "r"(Value)
               : "memory");
}
/// As fenceDevice, of system scope.
DEVICE void fenceSystem() { asm volatile("fence.acq_rel.sys;" ::: "memory"); }

/// For data that one thread of the block writes and others read in the opposite
/// order.
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

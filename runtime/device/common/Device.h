//===- Device.h - What a thread asks of the device -------------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_DEVICE_COMMON_DEVICE_H
#define CRSAN_DEVICE_COMMON_DEVICE_H

#include "crsan/abi/BlockOrder.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Record.h"
#include "crsan/abi/Site.h"
#include "crsan/abi/Watchpoints.h"

// The toolkit's headers are not needed for this file, and not included.
#define DEVICE __attribute__((device, always_inline)) inline
/// Those of metadata mode: what synchronises comes here.
#define HOT_ENTRY extern "C" __attribute__((device, noinline, used, convergent))
/// What several entry points of metadata mode share, or do rarely or at length.
/// crsan-ptxas knows them by their mangled names.
#define HELPER static __attribute__((device, noinline, convergent))
/// Entry points keep a real call: they are cold, and kernels are many.
#define ENTRY                                                                  \
  extern "C" __attribute__((device, noinline, cold, used, convergent))

// In braces, or it would be declared and not defined. Weak, so that the units
// of an image share one.
extern "C" {
__attribute__((constant, weak)) crsan::abi::Config __crsan_config;
}

namespace crsan::device {

using namespace crsan::abi;

using Address = uint64_t;

DEVICE uint32_t random() {
  uint32_t Clock, Sm, Warp;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(Clock));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(Sm));
  asm volatile("mov.u32 %0, %%warpid;" : "=r"(Warp));
  return mix(Clock ^ mix(__crsan_config.Seed * 0x9e3779b9u + (Sm << 8) + Warp));
}

DEVICE uint32_t activeMask() {
  uint32_t Mask;
  asm volatile("activemask.b32 %0;" : "=r"(Mask));
  return Mask;
}

DEVICE uint32_t lane() {
  uint32_t Lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(Lane));
  return Lane;
}

/// Waits. `nanosleep` would let lanes go on that wait for this one at the end
/// of a branch (docs/convergence.md), so this reads the clock until time is up.
DEVICE void pause(uint32_t Cycles) {
  uint32_t Start, Now;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(Start)::"memory");
  do
    asm volatile("mov.u32 %0, %%clock;" : "=r"(Now)::"memory");
  while (Now - Start < Cycles);
}

DEVICE uint32_t broadcast(uint32_t Value, uint32_t From) {
  return __nvvm_shfl_sync_idx_i32(activeMask(), Value, From, 31);
}
DEVICE uint64_t shuffle(uint32_t Mask, uint64_t Value, uint32_t From) {
  const uint32_t Low =
      __nvvm_shfl_sync_idx_i32(Mask, uint32_t(Value), From, 31);
  const uint32_t High =
      __nvvm_shfl_sync_idx_i32(Mask, uint32_t(Value >> 32), From, 31);
  return uint64_t(High) << 32 | Low;
}

DEVICE uint32_t below(uint32_t Random, uint32_t Bound) {
  return uint32_t((uint64_t(Random) * Bound) >> 32);
}

/// Local memory is private, constant and parameter memory immutable: none can
/// race (SuperCollider 3.3), whatever a generic pointer says.
DEVICE bool canRace(Address A) {
  uint32_t Local, Constant, Param;
  asm("{ .reg .pred p; isspacep.local p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(Local)
      : "l"(A));
  asm("{ .reg .pred p; isspacep.const p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(Constant)
      : "l"(A));
  asm("{ .reg .pred p; isspacep.param p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(Param)
      : "l"(A));
  return !(Local | Constant | Param);
}
DEVICE Space spaceOf(Address A) {
  uint32_t Shared;
  asm("{ .reg .pred p; isspacep.shared p, %1; selp.u32 %0, 1, 0, p; }"
      : "=r"(Shared)
      : "l"(A));
  return Shared ? Space::Shared : Space::Global;
}

/// Blocks of a cluster in dimension `D`: defined by the pass, which knows
/// whether the target has clusters.
extern "C" __attribute__((device)) uint32_t __crsan_cluster_extent(uint32_t D);
/// Which block of its cluster this is: defined likewise. Addresses of a block's
/// own shared memory say so, from bit ClusterRankAt on (seen on an H200).
extern "C" __attribute__((device)) uint32_t __crsan_cluster_rank();
constexpr unsigned ClusterRankAt = 24;

} // namespace crsan::device

#endif // CRSAN_DEVICE_COMMON_DEVICE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fences between the generic and the asynchronous proxy.
//
// A bulk copy reads memory through another proxy than loads and stores do. What
// a store wrote before the copy is sure to be read only if a fence between the
// two proxies (fence.proxy.async) is on the path of synchronization from the
// store to the copy. Each warp remembers its clock at the last such fence of
// its block, so a write at a larger clock came after all of them.
// Whatever may be, or may tell of, a fence counts as one: another block's
// release after its grid has executed a fence, code that is not followed, and
// the issue of a bulk copy, since its completion is followed by an implicit
// fence.
#ifndef CRSAN_DEVICE_METADATA_PROXYFENCE_H
#define CRSAN_DEVICE_METADATA_PROXYFENCE_H

#include "metadata/Clock.h"

namespace crsan::device {

/// Notes that a fence may come after all that this thread comes after.
DEVICE void noteForBlock(const Self &Me) {
#pragma unroll 1
  for (uint32_t I = 0; I < Me.warpsInBlock(); ++I) {
    WarpState &W = Self::stateOf((Me.firstWarp() + I) & (NumWarps - 1));
    const uint32_t Now = loadRelaxed(W.Clock);
    if (loadRelaxed(W.ProxyFence) < Now)
      raise(W.ProxyFence, Now);
  }
}

/// A fence between the proxies is about to happen or has just happened, or may.
HELPER void noteProxyFence(PlaceOf Place) {
  const Self Me(Place);
  noteForBlock(Me);
  const uint64_t Grid = Me.warp().Grid;
  if (loadRelaxed(metadata().FencedGrid) < Grid)
    asm volatile(
        "red.relaxed.gpu.max.u64 [%0], %1;" ::"l"(&metadata().FencedGrid),
        "l"(Grid)
        : "memory");
  // Whoever reads the count comes after what this thread comes after.
  fenceDevice();
  asm volatile("red.relaxed.gpu.add.u32 [%0], 1;" ::"l"(&metadata().ProxyFences)
               : "memory");
  fenceDevice();
}

/// This thread has acquired what other blocks have released, and with it
/// perhaps fences of theirs. If the count says that there were some since the
/// warp last came here, all that was before them is noted as fenced.
HELPER void heedProxyFences(PlaceOf Place) {
  const Self Me(Place);
  uint32_t &Seen = Me.warp().ProxyFencesSeen;
  const uint32_t Now = loadRelaxed(metadata().ProxyFences);
  if (loadRelaxed(Seen) == Now && Now != ~0u)
    return;
  fenceDevice();
  noteForBlock(Me);
  // Whoever finds the count below finds the clocks above, too.
  fenceDevice();
  storeRelaxed(Seen, Now);
}

/// Whether a warp of this block has noted a fence since it began.
DEVICE bool hasProxyFence(const Self &Me) {
#pragma unroll 1
  for (uint32_t I = 0; I < Me.warpsInBlock(); ++I) {
    const WarpState &W = Self::stateOf((Me.firstWarp() + I) & (NumWarps - 1));
    if (loadRelaxed(W.ProxyFence) >= loadRelaxed(W.Start))
      return true;
  }
  return false;
}

/// Whether no fence between the proxies can be between the write `Earlier`, by
/// this block if `IsOurs`, and what this thread does now.
DEVICE bool lacksProxyFence(const Self &Me, Accessor Earlier, bool IsOurs) {
  const WarpState &Other = Self::stateOf(Earlier.warp());
  return Earlier.made() > loadRelaxed(Other.ProxyFence) &&
         (IsOurs || !hasProxyFence(Me));
}

} // namespace crsan::device

#endif // CRSAN_DEVICE_METADATA_PROXYFENCE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a copy or a fill touches.

#include "Box.h"

using namespace crsan::api;

Box crsan::api::line(void *To, const void *From, size_t Size) {
  Box B;
  B.To.Base = static_cast<char *>(To);
  B.From.Base = const_cast<char *>(static_cast<const char *>(From));
  B.Width = Size;
  return B;
}

Box crsan::api::plane(void *To, size_t ToPitch, const void *From,
                      size_t FromPitch, size_t Width, size_t Height) {
  Box B = line(To, From, Width);
  B.To.Pitch = ToPitch;
  B.From.Pitch = FromPitch;
  B.Height = Height;
  return B;
}

Side crsan::api::sideOf(const cudaPitchedPtr &P, const cudaPos &At) {
  Side S;
  S.Pitch = P.pitch;
  S.Slice = P.pitch * P.ysize;
  S.Base = static_cast<char *>(P.ptr);
  if (S.Base)
    S.Base += At.z * S.Slice + At.y * S.Pitch + At.x;
  return S;
}

static bool isInModule(Process &P, const void *Address, size_t Size) {
  for (int I = 0; I < P.deviceCount(); ++I)
    if (auto Range = P.device(I).M.rangeOf(Address)) {
      auto *End = static_cast<const char *>(Range->Begin) + Range->Size;
      return static_cast<const char *>(Address) + Size <= End;
    }
  return false;
}

Home crsan::api::homeOf(Process &P, const void *Address) {
  if (Allocation *A = P.findAllocation(Address))
    return A->What == Allocation::Kind::Device    ? Home::Device
           : A->What == Allocation::Kind::Managed ? Home::Managed
                                                  : Home::Pinned;
  return isInModule(P, Address, 0) ? Home::Device : Home::Pageable;
}

bool crsan::api::fits(Process &P, const Side &S, size_t Extent) {
  if (Allocation *A = P.findAllocation(S.Base))
    return S.Base + Extent <= static_cast<char *>(A->Base) + A->Size;
  return isInModule(P, S.Base, Extent);
}

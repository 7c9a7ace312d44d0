// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a copy or a fill touches.
#ifndef CRSAN_SIM_BOX_H
#define CRSAN_SIM_BOX_H

#include "Process.h"

namespace crsan::api {

struct Side {
  char *Base = nullptr;
  size_t Pitch = 0, Slice = 0;
};

struct Box {
  Side To, From;
  size_t Width = 0, Height = 1, Depth = 1;

  bool isEmpty() const { return !Width || !Height || !Depth; }
  size_t extent(const Side &S) const {
    return (Depth - 1) * S.Slice + (Height - 1) * S.Pitch + Width;
  }
  template <typename Row> void forEachRow(Row R) const {
    for (size_t Z = 0; Z < Depth; ++Z)
      for (size_t Y = 0; Y < Height; ++Y)
        R(To.Base + Z * To.Slice + Y * To.Pitch,
          From.Base + Z * From.Slice + Y * From.Pitch);
  }
};

Box line(void *To, const void *From, size_t Size);
Box plane(void *To, size_t ToPitch, const void *From, size_t FromPitch,
          size_t Width, size_t Height);
Side sideOf(const cudaPitchedPtr &P, const cudaPos &At);

/// What the rules of waiting look at.
enum class Home { Device, Managed, Pinned, Pageable };

Home homeOf(Process &P, const void *Address);

/// Whether the side lies in memory that belongs to the device's world, whole.
bool fits(Process &P, const Side &S, size_t Extent);

} // namespace crsan::api

#endif // CRSAN_SIM_BOX_H

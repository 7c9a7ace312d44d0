// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The images in what a program loads.
#ifndef CRSAN_INJECT_IMAGE_FATBIN_H
#define CRSAN_INJECT_IMAGE_FATBIN_H

#include <cstdint>
#include <span>
#include <vector>

namespace crsan {

/// One image of a fat binary, as it lies there.
struct FatEntry {
  enum class Kind : uint8_t { PTX, Cubin, Other };
  enum class Packing : uint8_t { Plain, LZ4, Zstandard, Unknown };
  Kind What = Kind::Other;
  Packing Packed = Packing::Plain;
  uint32_t Architecture = 0; ///< 90 for sm_90 or compute_90.
  /// Without the padding behind it, as far as the entry says where that begins.
  std::span<const uint8_t> Body;
  uint64_t PlainSize = 0; ///< Once unpacked; Body.size() where Plain.
};

/// The entries of a fat binary or of its wrapper, in their order; none for
/// anything else. Views: the bytes must outlive them.
std::vector<FatEntry> fatEntries(const void *Code);

/// Whether the bytes of a file are a fat binary or a cubin that lies within
/// them, or text with a null behind it (std::string has one). Images in memory
/// have no size that could be asked.
bool isWholeImage(std::span<const uint8_t> Bytes);

/// The fat binaries that a wrapper refers to beside its own: nvcc's device
/// linker leaves there what it linked (`-rdc=true`), PTX included.
std::vector<const void *> prelinkedFatbins(const void *Code);

/// The cubin that the driver takes for a device of compute capability
/// Major.Minor from the argument of cuLibraryLoadData or cuModuleLoadData: a
/// wrapped or plain fat binary, or a cubin. Empty if there is none, if it is
/// compressed, or if the driver compiles PTX.
///
/// For code whose image CUPTI does not show.
std::span<const uint8_t> findCubin(const void *Code, int Major, int Minor);

} // namespace crsan

#endif // CRSAN_INJECT_IMAGE_FATBIN_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A builder of fat binaries.
#ifndef CRSAN_UNITTESTS_INJECT_FATBUILDER_H
#define CRSAN_UNITTESTS_INJECT_FATBUILDER_H

#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <string>

enum class Pack { Plain, LZ4, Zstandard, Odd };

/// A fat binary, as fatbinary(1) of CUDA 13 writes it.
class FatBuilder {
public:
  static constexpr unsigned PTX = 1, Cubin = 2; ///< Kinds.

  FatBuilder &add(unsigned Kind, unsigned Architecture, const std::string &Text,
                  Pack How = Pack::Plain) {
    std::string Body = Text;
    uint64_t Flags = 0x11;
    if (How == Pack::Zstandard) {
      Body.resize(ZSTD_compressBound(Text.size()));
      Body.resize(
          ZSTD_compress(Body.data(), Body.size(), Text.data(), Text.size(), 3));
      Flags |= 0x8000;
    } else if (How == Pack::LZ4) {
      Body.resize(size_t(LZ4_compressBound(int(Text.size()))));
      Body.resize(size_t(LZ4_compress_default(
          Text.data(), Body.data(), int(Text.size()), int(Body.size()))));
      Flags |= 0x2000;
    }
    uint32_t Packed = How == Pack::Plain ? 0 : uint32_t(Body.size());
    Body.resize((Body.size() + 7) / 8 * 8);
    put(uint16_t(Kind));
    put(uint16_t(0x101));
    put(uint32_t(64));
    put(uint64_t(Body.size()));
    put(Packed);
    put(uint32_t(0));
    put(uint16_t(8));
    put(uint16_t(8));
    put(uint32_t(Architecture));
    put(uint64_t(0));
    put(Flags);
    put(uint64_t(0));
    put(uint64_t(Packed ? Text.size() : 0));
    Entries += Body;
    return *this;
  }

  /// Valid until the next call.
  const void *finish() {
    Bytes.clear();
    std::string All = std::move(Entries);
    Entries.clear();
    put(uint32_t(0xba55ed50));
    put(uint16_t(1));
    put(uint16_t(16));
    put(uint64_t(All.size()));
    Bytes = std::move(Entries) + All;
    Entries.clear();
    return Bytes.data();
  }

private:
  template <typename T> void put(T Value) {
    Entries.append(reinterpret_cast<const char *>(&Value), sizeof(Value));
  }
  std::string Entries, Bytes;
};

#endif // CRSAN_UNITTESTS_INJECT_FATBUILDER_H

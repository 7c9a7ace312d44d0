// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The symbols of a loaded device image.
#ifndef CRSAN_INJECT_IMAGE_CUBINIMAGE_H
#define CRSAN_INJECT_IMAGE_CUBINIMAGE_H

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crsan {

/// A cubin: an ELF64 little-endian file for NVIDIA's machine. A view: the bytes
/// must outlive it. Nothing in the bytes is believed before it is checked.
class CubinImage {
public:
  struct Symbol {
    std::string_view Name;
    uint64_t Value = 0; ///< Offset in its section, plus the section's address.
    uint64_t Size = 0;
    uint16_t Section = 0;    ///< 0: undefined here.
    bool IsFunction = false; ///< Kernels too.
    bool IsKernel = false;
    bool IsManaged = false; ///< Not where its section is.
  };

  /// Named, defined symbols, or what is wrong with the bytes.
  static std::variant<CubinImage, std::string>
  parse(std::span<const uint8_t> Bytes);

  const std::vector<Symbol> &symbols() const { return Symbols; }

  /// Bytes of the section that an object is in; 0 where the section cannot be
  /// written, so that memory has the bytes of the file.
  uint64_t writableBytes(const Symbol &S) const;

  /// The initial bytes of an object, or why there are none.
  std::variant<std::span<const uint8_t>, std::string>
  bytesOf(const Symbol &S) const;

  /// What a note of NVIDIA's of that type says; empty: there is none.
  std::span<const uint8_t> note(uint32_t Type) const;

private:
  struct Section {
    uint32_t Name, Type;
    uint64_t Flags, Address, Offset, Size;
    uint32_t Link, Info;
    uint64_t Align, EntrySize;
  };
  static_assert(sizeof(Section) == 64, "an ELF64 section header");

  std::string readSections();
  std::string readSymbols(const Section &Table);
  bool holds(uint64_t Offset, uint64_t Size) const {
    return Offset <= Bytes.size() && Size <= Bytes.size() - Offset;
  }

  std::span<const uint8_t> Bytes;
  std::vector<Section> Sections;
  std::vector<Symbol> Symbols;
};

} // namespace crsan

#endif // CRSAN_INJECT_IMAGE_CUBINIMAGE_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an instruction comes from.
#ifndef CRSAN_PTX_SOURCELINES_H
#define CRSAN_PTX_SOURCELINES_H

#include "PTX/DebugStrings.h"
#include "PTX/InlinedNames.h"

namespace crsan::ptx {

/// A line of the source, with the (mangled) function that it stands in; empty:
/// not known, or the function whose body the instruction is in.
struct SourceFrame {
  std::string_view File;
  uint32_t Line = 0, Column = 0;
  std::string_view Function;
};

/// The lines behind Instruction::Where. Frames live as long as this does.
class SourceLines {
public:
  explicit SourceLines(const Module &M);

  /// Innermost first, through all that was inlined. Empty: unknown.
  std::vector<SourceFrame> at(int32_t Where) const;

private:
  std::string_view fileName(uint32_t Number) const;
  uint32_t fileNumber(std::string_view EndOfName) const;

  std::shared_ptr<const std::string> Text;
  std::vector<Location> Locations;
  std::unordered_map<uint32_t, std::string_view> Files;
  DebugStrings Strings;
  InlinedNames Inlined;
};

} // namespace crsan::ptx

#endif // CRSAN_PTX_SOURCELINES_H

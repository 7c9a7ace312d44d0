// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Run-time options, parsed.
#ifndef CRSAN_INJECT_COMMON_FLAGS_H
#define CRSAN_INJECT_COMMON_FLAGS_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace crsan {

/// An option's name of a member's: an option that is called like a keyword of
/// C++ has a member with an underscore at the end.
constexpr std::string_view optionName(std::string_view Member) {
  if (Member.ends_with('_'))
    Member.remove_suffix(1);
  return Member;
}

/// What `crsan run` sets on the simulated GPU unless the user does: its time
/// says nothing of what checks cost, so they may take more of it.
inline constexpr std::string_view SimulatedDefaults =
    "launch_one_in=1:early_blocks=0:budget=96:follow_ms=0:follow_launch_ms=0";

struct Flags {
#define CRSAN_BOOL(Name, Default, Description) bool Name = Default;
#define CRSAN_UINT(Name, Default, Least, Greatest, Description)                \
  uint32_t Name = Default;
#define CRSAN_STRING(Name, Default, Description) std::string Name = Default;
#define CRSAN_CHOICE(Name, Default, Choices, Description)                      \
  std::string Name = Default;
#include "common/Flags.inc"
#undef CRSAN_BOOL
#undef CRSAN_UINT
#undef CRSAN_STRING
#undef CRSAN_CHOICE

  /// Whether code that was built without checks gets them, on the simulated
  /// GPU: `detector` is their mode then.
  bool addsChecks() const {
    return detector == "collider" || detector == "metadata" ||
           detector == "hybrid";
  }

  /// abi::Config::WarpOneIn. Where the number of executions decides, all of
  /// them are counted.
  uint32_t warpOneIn() const { return budget && overhead ? warp_one_in : 1; }

  /// Takes `name=value` items separated by colons, commas or white space; a
  /// value may be quoted with ' or ". Of a repeated option the last counts.
  /// Returns the error in one line, without prefix.
  std::optional<std::string> parse(std::string_view Text);

  /// The table, for `help=1`.
  static std::string helpText();
};

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_FLAGS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's options.
#ifndef CRSAN_DRIVER_NVCCOPTIONS_H
#define CRSAN_DRIVER_NVCCOPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace crsan::driver {

enum class NvccValue { None, One, List };

/// What becomes of an option (NvccOptions.def).
enum class NvccFate { Write, Switch, Drop, Refuse, Rule };

/// The options that take more than other words.
enum class NvccRule {
  None,
#define NVCC_RULE(Long, Short, Value, Rule, Text) Rule,
#include "NvccOptions.def"
};

struct NvccOption {
  llvm::StringRef Long, Short; ///< With dashes.
  NvccValue Value;
  NvccFate Fate;
  /// Clang's words; Switch: for `true`; Drop: why; Refuse: the remedy; Rule: a
  /// description.
  llvm::StringRef Text;
  llvm::StringRef False = "";
  NvccRule Rule = NvccRule::None;
};

/// An option of nvcc's in a command.
struct NvccWord {
  const NvccOption *Option;
  unsigned Length;         ///< In words of the command.
  std::string Value;       ///< Behind `=`, in the next word, or glued on.
  bool LacksValue = false; ///< The command ends before the value.
};

/// The option of nvcc's that begins the words \p Words; none if nvcc has none
/// of this name.
std::optional<NvccWord> readNvccWord(llvm::ArrayRef<std::string> Words);

/// What clang calls a kind of nvcc's -Werror: an error in any case, or nothing,
/// is empty; none if nvcc has no such kind.
std::optional<llvm::StringRef> clangsWerror(llvm::StringRef Kind);

/// Whether this -Werror is nvcc's: clang's has no value or other kinds.
bool isNvccWerror(const NvccWord &W);

/// The items of a list of nvcc's: commas separate them, unless in quotes or
/// behind a backslash.
std::vector<std::string> splitNvccList(llvm::StringRef List);

/// As a shell splits words: what nvcc's options for other programs become,
/// since nvcc calls these by a shell.
std::vector<std::string> splitShellWords(llvm::StringRef Text);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_NVCCOPTIONS_H

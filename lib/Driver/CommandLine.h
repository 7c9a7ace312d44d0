// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Clang's command line, word by word.
//
// Clang's own option table tells options from their values and from input
// files, and says which option a word spells.
#ifndef CRSAN_DRIVER_COMMANDLINE_H
#define CRSAN_DRIVER_COMMANDLINE_H

#include "clang/Options/Options.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Option/OptSpecifier.h"
#include "llvm/Option/Option.h"

#include <optional>
#include <string>
#include <vector>

namespace crsan::driver {

/// What an input is to CUDA: device and host code, host code only, or something
/// for the linker.
enum class InputKind { Cuda, Host, Linker };

/// The IDs of clang's options, OPT_...
namespace options = clang::options;

/// An option with its values, or an input file.
struct Argument {
  std::vector<std::string> Words;
  /// The option of clang's that the words spell, aliases resolved; none for an
  /// input and for an option that clang does not know.
  std::optional<llvm::opt::Option> Option;
  std::vector<std::string> Values; ///< Of Option.
  bool IsInput = false;
  InputKind Input = InputKind::Linker;
  /// The language that `-x` gives this input; empty: by its extension.
  std::string Language;

  llvm::StringRef spelling() const { return Words.front(); }
  /// Whether this is clang's option `Id`, or one of the group `Id`.
  bool matches(llvm::opt::OptSpecifier Id) const {
    return Option && Option->matches(Id);
  }
  /// For options that clang does not know: the value of an option spelled
  /// `-o VALUE`, `-oVALUE` (Prefix "-o") or `--x=VALUE` (Prefix "--x="); none
  /// if this is another option.
  std::optional<llvm::StringRef> value(llvm::StringRef Prefix) const;
  bool is(llvm::StringRef Spelling) const {
    return !IsInput && Words.front() == Spelling;
  }
};

/// How far a command goes.
enum class Phase { Preprocess, SyntaxOnly, Compile, Assemble, Link };

/// The option that begins \p Words, with its values, as clang reads it.
Argument readOption(llvm::ArrayRef<std::string> Words);

class CommandLine {
public:
  /// \p Words are the arguments without argv[0], response files expanded. Words
  /// after `--` become inputs that cannot be taken for options.
  static CommandLine parse(llvm::ArrayRef<std::string> Words);

  std::vector<Argument> Arguments;

  bool has(llvm::opt::OptSpecifier Id) const;
  /// The value of the last option \p Id.
  std::optional<std::string> last(llvm::opt::OptSpecifier Id) const;
  bool hasInput(InputKind Kind) const;
  bool hasAnyInput() const;
  Phase phase() const;
};

/// The kind of a file by its name, as clang's driver decides it.
InputKind kindOfFile(llvm::StringRef Path);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_COMMANDLINE_H

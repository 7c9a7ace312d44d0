// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvcc's options.
#include "NvccOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Allocator.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/StringSaver.h"

using namespace crsan::driver;
using llvm::StringRef;

static constexpr NvccOption AllOptions[] = {
#define NVCC_WRITE(Long, Short, Value, Clang)                                  \
  {Long, Short, NvccValue::Value, NvccFate::Write, Clang},
#define NVCC_SWITCH(Long, Short, True, False)                                  \
  {Long, Short, NvccValue::One, NvccFate::Switch, True, False},
#define NVCC_DROP(Long, Short, Value, Why)                                     \
  {Long, Short, NvccValue::Value, NvccFate::Drop, Why},
#define NVCC_REFUSE(Long, Short, Value, Remedy)                                \
  {Long, Short, NvccValue::Value, NvccFate::Refuse, Remedy},
#define NVCC_RULE(Long, Short, Value, Name, Text)                              \
  {Long, Short, NvccValue::Value, NvccFate::Rule, Text, "", NvccRule::Name},
#include "NvccOptions.def"
};

static const NvccOption *findOption(StringRef Name) {
  const auto *Found = llvm::find_if(AllOptions, [&](const NvccOption &O) {
    return !Name.empty() && (Name == O.Long || Name == O.Short);
  });
  return Found == std::end(AllOptions) ? nullptr : Found;
}

std::optional<NvccWord>
crsan::driver::readNvccWord(llvm::ArrayRef<std::string> Words) {
  const StringRef Word = Words.front();
  if (const NvccOption *O = findOption(Word)) {
    if (O->Value == NvccValue::None)
      return NvccWord{O, 1, ""};
    if (Words.size() < 2)
      return NvccWord{O, 1, "", /*LacksValue=*/true};
    return NvccWord{O, 2, Words[1]};
  }
  const auto [Name, Value] = Word.split('=');
  if (const NvccOption *O = findOption(Name))
    if (O->Value != NvccValue::None && Name != Word)
      return NvccWord{O, 1, Value.str()};
  // -Idir, -O3, -t4: options of one letter.
  if (Word.size() > 2 &&
      (StringRef("DUIlLO").contains(Word[1]) ||
       (Word[1] == 't' && llvm::isDigit(Word[2]))) &&
      !Word.starts_with("--"))
    if (const NvccOption *O = findOption(Word.take_front(2)))
      return NvccWord{O, 1, Word.drop_front(2).str()};
  return std::nullopt;
}

std::vector<std::string> crsan::driver::splitNvccList(StringRef List) {
  std::vector<std::string> Items(1);
  char Quote = 0;
  for (size_t I = 0; I < List.size(); ++I) {
    const char C = List[I];
    if (C == '\\' && I + 1 < List.size() && List[I + 1] == ',') {
      Items.back() += List[++I];
      continue;
    }
    if (C == ',' && !Quote) {
      Items.emplace_back();
      continue;
    }
    if (C == '"' || C == '\'')
      Quote = Quote == C ? 0 : Quote ? Quote : C;
    Items.back() += C;
  }
  llvm::erase_if(Items, [](const std::string &Item) { return Item.empty(); });
  return Items;
}

std::vector<std::string> crsan::driver::splitShellWords(StringRef Text) {
  llvm::BumpPtrAllocator Allocator;
  llvm::StringSaver Saver(Allocator);
  llvm::SmallVector<const char *, 8> Words;
  llvm::cl::TokenizeGNUCommandLine(Text, Saver, Words);
  return {Words.begin(), Words.end()};
}

std::optional<StringRef> crsan::driver::clangsWerror(StringRef Kind) {
  if (Kind == "all-warnings")
    return "-Werror";
  if (Kind == "reorder" || Kind == "deprecated-declarations")
    return Kind == "reorder" ? "-Werror=reorder"
                             : "-Werror=deprecated-declarations";
  if (Kind == "cross-execution-space-call" || Kind == "default-stream-launch" ||
      Kind == "missing-launch-bounds" || Kind == "ext-lambda-captures-this")
    return "";
  return std::nullopt;
}

bool crsan::driver::isNvccWerror(const NvccWord &W) {
  return llvm::all_of(splitNvccList(W.Value), [](StringRef Kind) {
    return clangsWerror(Kind).has_value();
  });
}

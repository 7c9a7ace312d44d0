// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading JSON that must be as expected.
#include "Report/StrictJSON.h"

#include <algorithm>
#include <charconv>

using namespace crsan;

uint64_t JSONNode::wholeNumber() const {
  if (Value.is_number_unsigned())
    return Value.get<uint64_t>();
  const std::string Digits = Value.is_string() ? Value.get<std::string>() : "";
  const char *End = Digits.data() + Digits.size();
  if (!Digits.starts_with("0x"))
    refuse("must be a number, or text such as \"0x1f\"");
  uint64_t Number = 0;
  auto [Stop, Error] = std::from_chars(Digits.data() + 2, End, Number, 16);
  if (Error != std::errc() || Stop != End)
    refuse(
        fmt::format("\"{}\" is not a hexadecimal number of 64 bits", Digits));
  return Number;
}

bool JSONNode::flag() const {
  if (!Value.is_boolean())
    refuse("must be true or false");
  return Value.get<bool>();
}

std::string JSONNode::text() const {
  if (!Value.is_string())
    refuse("must be text");
  return Value.get<std::string>();
}

std::vector<JSONNode> JSONNode::elements() const {
  if (!Value.is_array())
    refuse("must be an array");
  std::vector<JSONNode> Result;
  for (size_t I = 0; I < Value.size(); ++I)
    Result.emplace_back(Value[I], fmt::format("{}[{}]", Path, I));
  return Result;
}

JSONMembers::JSONMembers(const JSONNode &Object) : Object(Object) {
  if (!Object.value().is_object())
    Object.refuse("must be an object");
}

std::optional<JSONNode> JSONMembers::get(const char *Key) {
  Asked.push_back(Key);
  auto It = Object.value().find(Key);
  if (It == Object.value().end())
    return std::nullopt;
  const std::string &Path = Object.path();
  return JSONNode(*It, Path.empty() ? Key : Path + "." + Key);
}

JSONNode JSONMembers::require(const char *Key) {
  if (std::optional<JSONNode> Member = get(Key))
    return *Member;
  Object.refuse(fmt::format("\"{}\" is missing", Key));
}

void JSONMembers::finish() const {
  for (const auto &[Key, Member] : Object.value().items())
    if (std::find(Asked.begin(), Asked.end(), Key) == Asked.end())
      Object.refuse(fmt::format("unknown key \"{}\"; known are {}", Key,
                                fmt::join(Asked, ", ")));
}

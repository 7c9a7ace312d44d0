// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading JSON that must be as expected.
//
// Whatever is not as expected, a key that nobody asks for included, ends the
// reading by an exception that says where it is.
#ifndef CRSAN_REPORT_STRICTJSON_H
#define CRSAN_REPORT_STRICTJSON_H

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace crsan {

/// One line: where, and what is wrong.
struct BadJSON : std::runtime_error {
  BadJSON(const std::string &Path, const std::string &Problem)
      : std::runtime_error(Path.empty() ? Problem : Path + ": " + Problem) {}
};

/// Texts and what they mean.
template <typename T> using Names = std::span<const std::pair<const char *, T>>;

/// A value and where it is, for messages such as `records[2].kind: ...`.
class JSONNode {
public:
  JSONNode(const nlohmann::json &Value, std::string Path)
      : Value(Value), Path(std::move(Path)) {}

  [[noreturn]] void refuse(const std::string &Problem) const {
    throw BadJSON(Path, Problem);
  }

  /// Integers, also as text with 0x: 64-bit values are hard to read otherwise.
  template <typename T> T number() const {
    static_assert(std::is_integral_v<T>);
    constexpr T Most = std::numeric_limits<T>::max();
    const uint64_t Number = wholeNumber();
    if (Number > uint64_t(Most))
      refuse(fmt::format("{} is more than {}", Number, Most));
    return T(Number);
  }
  bool flag() const;
  std::string text() const;
  std::vector<JSONNode> elements() const;
  template <typename T> T choice(const Names<T> &Choices) const {
    const std::string Name = text();
    std::vector<const char *> Known;
    for (const auto &[Text, Meaning] : Choices) {
      if (Name == Text)
        return Meaning;
      Known.push_back(Text);
    }
    refuse(fmt::format("\"{}\" is none of {}", Name, fmt::join(Known, ", ")));
  }

  const nlohmann::json &value() const { return Value; }
  const std::string &path() const { return Path; }

private:
  uint64_t wholeNumber() const;

  const nlohmann::json &Value;
  std::string Path;
};

/// The members of an object. Those that nobody asked for are refused at the
/// end.
class JSONMembers {
public:
  explicit JSONMembers(const JSONNode &Object);

  /// The member, or nothing.
  std::optional<JSONNode> get(const char *Key);
  JSONNode require(const char *Key);

  // Where there is no such member, Result stays as it is.
  template <typename T> void number(const char *Key, T &Result) {
    if (auto Member = get(Key))
      Result = Member->number<T>();
  }
  void flag(const char *Key, bool &Result) {
    if (auto Member = get(Key))
      Result = Member->flag();
  }
  void text(const char *Key, std::string &Result) {
    if (auto Member = get(Key))
      Result = Member->text();
  }
  template <typename T>
  void choice(const char *Key, const Names<T> &Choices, T &Result) {
    if (auto Member = get(Key))
      Result = Member->choice(Choices);
  }
  std::vector<JSONNode> elements(const char *Key) {
    auto Member = get(Key);
    return Member ? Member->elements() : std::vector<JSONNode>();
  }

  void finish() const;

private:
  const JSONNode &Object;
  std::vector<std::string> Asked;
};

} // namespace crsan

#endif // CRSAN_REPORT_STRICTJSON_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where an instruction comes from.

#include "PTX/SourceLines.h"

#include <charconv>

namespace crsan::ptx {

namespace {

/// Takes ":NUMBER" off the end.
std::optional<uint32_t> takeNumber(std::string_view &S) {
  const size_t Colon = S.rfind(':');
  if (Colon == S.npos)
    return std::nullopt;
  const char *End = S.data() + S.size();
  uint32_t Number = 0;
  const auto [At, Error] = std::from_chars(S.data() + Colon + 1, End, Number);
  if (Error != std::errc() || At != End)
    return std::nullopt;
  S = S.substr(0, Colon);
  return Number;
}

/// "a.cu:10:5", or "a.cu:10" where there is no column.
SourceFrame parseFrame(std::string_view S) {
  SourceFrame F;
  const std::optional<uint32_t> Last = takeNumber(S);
  const std::optional<uint32_t> Before = takeNumber(S);
  F.Line = Before ? *Before : Last.value_or(0);
  F.Column = Before ? *Last : 0;
  F.File = S;
  return F;
}

} // namespace

SourceLines::SourceLines(const Module &M)
    : Text(M.Text), Locations(M.Locations), Strings(M), Inlined(M) {
  for (const Module::File &F : M.Files)
    Files[F.Number] = F.Name;
}

std::string_view SourceLines::fileName(uint32_t Number) const {
  const auto It = Files.find(Number);
  return It == Files.end() ? std::string_view() : It->second;
}

/// Comments may have the end of a file's name only. 0: several files have it,
/// or none.
uint32_t SourceLines::fileNumber(std::string_view EndOfName) const {
  uint32_t Found = 0;
  for (const auto &[Number, Name] : Files) {
    if (!Name.ends_with(EndOfName))
      continue;
    const std::string_view Rest =
        Name.substr(0, Name.size() - EndOfName.size());
    if (!Rest.empty() && !Rest.ends_with('/'))
      continue;
    if (Found && fileName(Found) != Name)
      return 0;
    Found = Number;
  }
  return Found;
}

std::vector<SourceFrame> SourceLines::at(int32_t Where) const {
  std::vector<SourceFrame> Frames;
  while (Where >= 0) {
    const Location &L = Locations[Where];
    Frames.push_back(
        {fileName(L.File), L.Line, L.Column, Strings.find(L.Function)});
    // The first frame of the comment is the line itself.
    std::string_view Rest = L.Comment;
    while (Rest.ends_with(']') || Rest.ends_with(' '))
      Rest.remove_suffix(1);
    constexpr std::string_view Inlining = " @[ ";
    for (size_t At = Rest.find(Inlining); At != Rest.npos;
         At = Rest.find(Inlining)) {
      Rest.remove_prefix(At + Inlining.size());
      SourceFrame Caller = parseFrame(Rest.substr(0, Rest.find(Inlining)));
      if (const uint32_t File = fileNumber(Caller.File)) {
        Caller.File = fileName(File);
        if (Frames.back().Function.empty())
          Frames.back().Function =
              Inlined.find(File, Caller.Line, Caller.Column);
      }
      Frames.push_back(Caller);
    }
    Where = L.InlinedAt;
  }
  return Frames;
}

} // namespace crsan::ptx

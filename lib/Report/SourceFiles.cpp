// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The source around an access.
#include "Report/SourceFiles.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <system_error>

using namespace crsan;

namespace fs = std::filesystem;

/// Where the file is: by its name, or by that name from a folder that the
/// current one is in. Compilers shorten the path of a source to the part that
/// it does not share with the folder that they run in.
static fs::path find(const std::string &Name) {
  std::error_code Error;
  const fs::path Path = Name;
  fs::path Folder = fs::current_path(Error);
  if (fs::exists(Path, Error) || Path.is_absolute())
    return Path;
  for (; Folder.has_relative_path(); Folder = Folder.parent_path())
    if (fs::exists(Folder.parent_path() / Path, Error))
      return Folder.parent_path() / Path;
  return Path;
}

const std::vector<std::string> &SourceFiles::lines(const std::string &Name) {
  auto [It, IsNew] = Files.try_emplace(Name);
  std::error_code Error;
  const fs::path Path = IsNew ? find(Name) : fs::path();
  if (!IsNew || !fs::is_regular_file(Path, Error) ||
      fs::file_size(Path, Error) > MostBytes || Error)
    return It->second;
  std::ifstream In(Path, std::ios::binary);
  for (std::string Line; std::getline(In, Line);) {
    if (Line.ends_with('\r'))
      Line.pop_back();
    It->second.push_back(std::move(Line));
  }
  return It->second;
}

const SourceCode &SourceFiles::code(const std::string &Name) {
  auto [It, IsNew] = Codes.try_emplace(Name);
  if (IsNew)
    It->second = SourceCode(lines(Name));
  return It->second;
}

size_t crsan::beginOfTarget(std::string_view Line, size_t End) {
  size_t At = End;
  for (;;) {
    while (At > 0 && (Line[At - 1] == ']' || Line[At - 1] == ')')) {
      int Depth = 0;
      do {
        if (At == 0)
          return Line.npos;
        --At;
        Depth += Line[At] == ']' || Line[At] == ')';
        Depth -= Line[At] == '[' || Line[At] == '(';
      } while (Depth);
    }
    const size_t NameEnd = At;
    while (At > 0 && isWord(Line[At - 1]))
      --At;
    if (At == NameEnd && Line[At] != '(')
      return Line.npos;
    if (At >= 1 && Line[At - 1] == '.')
      --At;
    else if (At >= 2 && Line.substr(At - 2, 2) == "->")
      At -= 2;
    else
      break;
  }
  while (At > 0 && Line[At - 1] == '*')
    --At;
  return At;
}

/// The length of the expression that begins at `Begin`, as a reader sees it: a
/// name with its members, indices and arguments, or one operator. Compilers
/// name the place of an access by its first byte alone.
static size_t lengthOfExpression(std::string_view Line, size_t Begin) {
  size_t End = Begin;
  while (End < Line.size() && (Line[End] == '*' || Line[End] == '&'))
    ++End;
  int Depth = 0;
  for (; End < Line.size(); ++End) {
    const char C = Line[End];
    if (C == '[' || C == '(')
      ++Depth;
    else if (C == ']' || C == ')') {
      if (Depth == 0)
        break;
      --Depth;
    } else if (Depth == 0 && !isWord(C) && C != '.' && C != ':' &&
               Line.substr(End, 2) != "->" &&
               !(C == '>' && Line[End - 1] == '-'))
      break;
  }
  // An operator such as = or +=.
  if (End == Begin)
    while (End < Line.size() && std::ispunct((unsigned char)Line[End]) &&
           Line[End] != '(' && Line[End] != '"')
      ++End;
  return std::max<size_t>(End - Begin, 1);
}

static bool isAssignment(std::string_view Line, size_t At) {
  const size_t Equals = Line.find_first_not_of("+-*/%&|^<>", At);
  return Equals != Line.npos && Line[Equals] == '=' &&
         Line.substr(Equals, 2) != "==" && Equals - At <= 2;
}

SourceExcerpt SourceFiles::around(const SourceFrame &Frame, unsigned Around) {
  SourceExcerpt Excerpt;
  if (Frame.File.empty() || Frame.Line == 0)
    return Excerpt;
  const std::vector<std::string> &Lines = lines(Frame.File);
  if (Frame.Line > Lines.size())
    return Excerpt;
  const size_t Here = Frame.Line - 1;
  const size_t First = Here - std::min<size_t>(Here, Around);
  const size_t End = std::min(Lines.size(), Here + 1 + Around);
  Excerpt.FirstLine = uint32_t(First + 1);
  Excerpt.Lines.assign(Lines.begin() + ptrdiff_t(First),
                       Lines.begin() + ptrdiff_t(End));
  if (Frame.Column && Frame.Column <= Lines[Here].size()) {
    const std::string_view Line = Lines[Here];
    Excerpt.Begin = Frame.Column - 1;
    // Of an assignment compilers name the operator, and what is written is in
    // front of it.
    const size_t End = Line.find_last_not_of(" \t", Excerpt.Begin - 1) + 1;
    const size_t Target = isAssignment(Line, Excerpt.Begin) && Excerpt.Begin
                              ? beginOfTarget(Line, End)
                              : Line.npos;
    if (Target != Line.npos) {
      Excerpt.Begin = Target;
      Excerpt.Length = End - Target;
    } else {
      Excerpt.Length = lengthOfExpression(Line, Excerpt.Begin);
    }
  }
  return Excerpt;
}

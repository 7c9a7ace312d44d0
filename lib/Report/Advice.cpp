// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A change of the source that orders two accesses.
#include "Report/Advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

using namespace crsan;

namespace {

bool isSpace(char C) { return std::isspace((unsigned char)C); }
bool isWord(char C) { return std::isalnum((unsigned char)C) || C == '_'; }

std::string_view trimmed(std::string_view S) {
  while (!S.empty() && isSpace(S.front()))
    S.remove_prefix(1);
  while (!S.empty() && isSpace(S.back()))
    S.remove_suffix(1);
  return S;
}

/// The words of a text, with where they begin.
template <typename F> void forWords(std::string_view Text, F Do) {
  for (size_t I = 0; I < Text.size(); ++I) {
    if (!isWord(Text[I]))
      continue;
    const size_t Begin = I;
    while (I < Text.size() && isWord(Text[I]))
      ++I;
    Do(Text.substr(Begin, I - Begin));
  }
}

/// A file's lines with blanks in place of comments, of what is in quotes, and
/// of preprocessor directives, so that what is left is code at its column.
struct Code {
  std::vector<std::string> Lines;
  std::vector<bool> IsDirective;
  std::vector<size_t> Depth; ///< Braces that are open where a line begins.

  explicit Code(const std::vector<std::string> &Text) {
    bool InComment = false, Continues = false;
    size_t Open = 0;
    for (std::string Line : Text) {
      const bool Directive =
          Continues || (!InComment && trimmed(Line).starts_with('#'));
      Continues = Directive && Line.ends_with('\\');
      IsDirective.push_back(Directive);
      InComment = blank(Line, InComment);
      if (Directive)
        Line.assign(Line.size(), ' ');
      Depth.push_back(Open);
      for (char C : Line) {
        Open += C == '{';
        Open -= C == '}' && Open > 0;
      }
      Lines.push_back(std::move(Line));
    }
  }

private:
  /// Returns whether the next line begins in a comment.
  static bool blank(std::string &Line, bool InComment) {
    char Quote = 0;
    for (size_t I = 0; I < Line.size(); ++I) {
      const bool IsPair = I + 1 < Line.size();
      if (InComment) {
        const bool Ends = IsPair && Line[I] == '*' && Line[I + 1] == '/';
        Line[I] = ' ';
        if (Ends)
          Line[++I] = ' ', InComment = false;
      } else if (Quote) {
        if (Line[I] == '\\' && IsPair)
          Line[I++] = ' ';
        else if (Line[I] == Quote)
          Quote = 0;
        Line[I] = ' ';
      } else if (IsPair && Line[I] == '/' && Line[I + 1] == '/') {
        std::fill(Line.begin() + ptrdiff_t(I), Line.end(), ' ');
      } else if (IsPair && Line[I] == '/' && Line[I + 1] == '*') {
        InComment = true;
        Line[I] = Line[I + 1] = ' ';
        ++I;
      } else if (Line[I] == '"' || Line[I] == '\'') {
        Quote = Line[I];
        Line[I] = ' ';
      }
    }
    return InComment;
  }
};

//===----------------------------------------------------------------------===//
// A statement that updates a variable.
//===----------------------------------------------------------------------===//

/// Whether a statement can begin there: nothing uses its value.
bool beginsStatement(std::string_view Line, size_t At) {
  const std::string_view Before = trimmed(Line.substr(0, At));
  return Before.empty() || Before.ends_with(';') || Before.ends_with('{') ||
         Before.ends_with('}') || Before.ends_with(')') || Before == "else" ||
         Before.ends_with(" else");
}

/// The text from `Begin` up to the semicolon that ends the statement.
std::optional<std::string_view> restOfStatement(std::string_view Line,
                                                size_t Begin) {
  int Depth = 0;
  for (size_t I = Begin; I < Line.size(); ++I) {
    const char C = Line[I];
    Depth += C == '(' || C == '[' || C == '{';
    Depth -= C == ')' || C == ']' || C == '}';
    if (Depth < 0 || (Depth == 0 && (C == ',' || C == '?')))
      return std::nullopt;
    if (Depth == 0 && C == ';')
      return trimmed(Line.substr(Begin, I - Begin));
  }
  return std::nullopt;
}

const char *atomicFor(char Operator) {
  switch (Operator) {
  case '+':
  case '-':
    return "atomicAdd";
  case '&':
    return "atomicAnd";
  case '|':
    return "atomicOr";
  case '^':
    return "atomicXor";
  default:
    return nullptr;
  }
}

std::string atomicUpdate(std::string_view Target, char Operator,
                         std::string_view Value) {
  if (Operator == '-')
    return fmt::format("atomicAdd(&{}, -({}))", Target, Value);
  return fmt::format("{}(&{}, {})", atomicFor(Operator), Target, Value);
}

/// The one update that a line of code consists of, and what does the same in
/// one step: "X += V", "++X" and "X++".
std::optional<Edit> atomicInPlace(const std::string &Line) {
  std::optional<Edit> Found;
  for (size_t At = 0; At + 1 < Line.size(); ++At) {
    const char C = Line[At], Next = Line[At + 1];
    size_t Begin = Line.npos, End = Line.npos;
    std::string New;
    if (atomicFor(C) && Next == '=') {
      const size_t TargetEnd =
          Line.find_last_not_of(" \t", At ? At - 1 : 0) + 1;
      Begin = beginOfTarget(Line, TargetEnd);
      const auto Value = restOfStatement(Line, At + 2);
      if (Begin == Line.npos || !Value || Value->empty())
        return std::nullopt;
      End = size_t(Value->data() - Line.data()) + Value->size();
      New = atomicUpdate(
          std::string_view(Line).substr(Begin, TargetEnd - Begin), C, *Value);
      At = End;
    } else if ((C == '+' || C == '-') && Next == C) {
      const auto Rest = restOfStatement(Line, At + 2);
      if (!Rest)
        continue; // Of a loop's counter.
      if (Rest->empty()) {
        Begin = beginOfTarget(Line, At);
        End = At + 2;
        if (Begin == Line.npos)
          return std::nullopt;
        New = atomicUpdate(std::string_view(Line).substr(Begin, At - Begin), C,
                           "1");
      } else {
        Begin = At;
        End = size_t(Rest->data() - Line.data()) + Rest->size();
        if (beginOfTarget(Line, End) != At + 2)
          return std::nullopt;
        New = atomicUpdate(*Rest, C, "1");
      }
      At = End;
    } else {
      continue;
    }
    if (Found || !beginsStatement(Line, Begin))
      return std::nullopt;
    Found = Edit{{},
                 0,
                 uint32_t(Begin + 1),
                 Line.substr(Begin, End - Begin),
                 std::move(New)};
  }
  return Found;
}

//===----------------------------------------------------------------------===//
// A place for a barrier.
//===----------------------------------------------------------------------===//

/// A place of the code: line, from 0, and column.
struct Place {
  size_t Line = 0, Column = 0;
  auto operator<=>(const Place &) const = default;
};

/// The braces that are open at the beginning of a line, outermost first.
std::vector<Place> openBraces(const Code &C, size_t Line) {
  std::vector<Place> Open;
  for (size_t L = 0; L < Line; ++L)
    for (size_t I = 0; I < C.Lines[L].size(); ++I) {
      if (C.Lines[L][I] == '{')
        Open.push_back({L, I});
      else if (C.Lines[L][I] == '}' && !Open.empty())
        Open.pop_back();
    }
  return Open;
}

/// The text in front of a brace, back to what ends the statement before.
std::string headOf(const Code &C, Place Brace) {
  std::string Head;
  for (size_t L = Brace.Line + 1; L-- > 0;) {
    std::string_view Line = C.Lines[L];
    if (L == Brace.Line)
      Line = Line.substr(0, Brace.Column);
    const size_t End = Line.find_last_of(";{}");
    Head.insert(0, std::string(End == Line.npos ? Line : Line.substr(End + 1)) +
                       " ");
    if (End != Line.npos)
      break;
  }
  return Head;
}

/// Whether a line of code may end the thread's way through the function.
bool mayLeave(std::string_view Line) {
  bool May = false;
  forWords(Line, [&](std::string_view Word) {
    for (std::string_view Leaving :
         {"return", "goto", "asm", "__asm__", "__trap", "__exit"})
      May |= Word == Leaving;
  });
  return May;
}

/// The line, from 0, between `Earlier` and `Later` (which it may be) in front
/// of which every thread of a block comes by once.
std::optional<size_t> placeForBarrier(const Code &C, size_t Upper,
                                      size_t Lower) {
  // The kernel's body: the outermost brace that both lines are in and that is
  // a kernel's.
  const std::vector<Place> A = openBraces(C, Upper), B = openBraces(C, Lower);
  size_t Depth = 0;
  while (Depth < A.size() && Depth < B.size() && A[Depth] == B[Depth] &&
         headOf(C, A[Depth]).find("__global__") == std::string::npos)
    ++Depth;
  if (Depth >= A.size() || Depth >= B.size() || A[Depth] != B[Depth])
    return std::nullopt;
  for (size_t L = A[Depth].Line; L <= Lower; ++L)
    if (C.IsDirective[L] || (L < Lower && mayLeave(C.Lines[L])))
      return std::nullopt;
  for (size_t L = Lower; L > Upper; --L) {
    if (C.Depth[L] != Depth + 1 || trimmed(C.Lines[L]).empty())
      continue;
    size_t Previous = L;
    while (Previous > 0 && trimmed(C.Lines[--Previous]).empty())
      ;
    const std::string_view Code = trimmed(C.Lines[Previous]);
    // A block in braces may be one of do ... while, or in front of an else.
    const std::string_view Here = trimmed(C.Lines[L]);
    if (Previous >= Upper && (Code.ends_with(';') || Code.ends_with('}')) &&
        !Here.starts_with("else") && !Here.starts_with("while") &&
        !Here.starts_with('}') && !Here.starts_with("case"))
      return L;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The kinds of races
//===----------------------------------------------------------------------===//

const SourceFrame *userFrame(const std::optional<SiteInfo> &Site) {
  if (!Site || Site->Frames.empty() || !Site->Operation.empty())
    return nullptr;
  const SourceFrame &F = frameToName(Site->Frames);
  return F.Line && !F.File.empty() ? &F : nullptr;
}

bool isSameLine(const SourceFrame &A, const SourceFrame &B) {
  return A.File == B.File && A.Line == B.Line;
}

class Adviser {
public:
  Adviser(const Finding &F, SourceFiles &Sources)
      : F(F), Sources(Sources), Later(userFrame(F.Site)),
        Earlier(userFrame(F.Other)) {}

  std::vector<Edit> edits() {
    if (!Later || !Earlier)
      return {};
    if (F.kind() == abi::RaceKind::AtomicScope)
      return widerScopes();
    if (isSameLine(*Later, *Earlier))
      return atomic();
    if (!F.isTwoSided()) // Which of the two came first is not known.
      return {};
    if (F.kind() == abi::RaceKind::IntraBlock)
      return barrier("__syncthreads();");
    if (F.kind() == abi::RaceKind::WarpBarrier)
      return barrier("__syncwarp();");
    return {};
  }

private:
  /// Empty if the file cannot be read.
  const std::string *lineOf(const SourceFrame &Frame) {
    const std::vector<std::string> &Lines = Sources.lines(Frame.File);
    return Frame.Line <= Lines.size() ? &Lines[Frame.Line - 1] : nullptr;
  }

  std::vector<Edit> atomic() {
    const std::string *Line = lineOf(*Later);
    if (!Line || F.size() != 4 || F.sizeIsLowerBound() || F.Site->IsVolatile ||
        F.Other->IsVolatile || !F.Site->isOfUpdate() ||
        !F.Other->isOfUpdate() || F.Site->isAtomic() || F.Other->isAtomic())
      return {};
    std::optional<Edit> E = atomicInPlace(Code({*Line}).Lines.front());
    if (!E)
      return {};
    E->File = Later->File;
    E->Line = Later->Line;
    return {*E};
  }

  std::vector<Edit> widerScopes() {
    std::vector<Edit> All;
    for (const auto &[Site, Frame] :
         {std::pair(&*F.Site, Later), std::pair(&*F.Other, Earlier)}) {
      if (!Site->isAtomic() || Site->Scope != abi::Scope::Block ||
          (!All.empty() && isSameLine(*Later, *Earlier)))
        continue;
      const std::string *Line = lineOf(*Frame);
      if (!Line)
        return {};
      const std::string Text = Code({*Line}).Lines.front();
      std::vector<std::string_view> Narrow;
      forWords(Text, [&](std::string_view Word) {
        if (Word.starts_with("atomic") && Word.ends_with("_block"))
          Narrow.push_back(Word);
      });
      if (Narrow.size() != 1)
        return {};
      std::string_view Wide = Narrow.front();
      Wide.remove_suffix(std::string_view("_block").size());
      All.push_back({Frame->File, Frame->Line,
                     uint32_t(Narrow.front().data() - Text.data()) + 1,
                     std::string(Narrow.front()), std::string(Wide)});
    }
    return All;
  }

  std::vector<Edit> barrier(const char *Statement) {
    // The two lines are in one function and no inlined one. Which access came
    // first in this run does not matter: in each thread the upper line does.
    if (&F.Site->Frames.back() != Later || &F.Other->Frames.back() != Earlier ||
        Later->Function != Earlier->Function || Later->File != Earlier->File ||
        F.Site->Kernel != F.Other->Kernel)
      return {};
    const Code C(Sources.lines(Later->File));
    const auto [Upper, Lower] = std::minmax(Earlier->Line, Later->Line);
    if (Lower > C.Lines.size())
      return {};
    const auto At = placeForBarrier(C, Upper - 1, Lower - 1);
    if (!At)
      return {};
    return {{Later->File, uint32_t(*At + 1), 1, "", Statement}};
  }

  const Finding &F;
  SourceFiles &Sources;
  const SourceFrame *Later, *Earlier;
};

} // namespace

std::vector<Edit> crsan::adviceFor(const Finding &F, SourceFiles &Sources) {
  return Adviser(F, Sources).edits();
}

std::string crsan::wordsOf(const Edit &E, std::string_view StripPathPrefix) {
  std::string_view File = E.File;
  if (File.starts_with(StripPathPrefix))
    File.remove_prefix(StripPathPrefix.size());
  if (E.Old.empty())
    return fmt::format("insert `{}` before line {} of {}", E.New, E.Line, File);
  return fmt::format("write `{}` for `{}` in line {} of {}", E.New, E.Old,
                     E.Line, File);
}

std::string crsan::adviceWords(const std::vector<Edit> &Edits,
                               std::string_view StripPathPrefix) {
  std::string Text;
  for (const Edit &E : Edits)
    Text += (Text.empty() ? " To fix this, " : ", and ") +
            wordsOf(E, StripPathPrefix);
  return Text.empty() ? "" : Text + ".";
}

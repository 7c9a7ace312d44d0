// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A change of the source that orders two accesses.
#include "Report/Advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

using namespace crsan;

namespace {

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

/// An update of a variable: its text in the line, the variable, and what does
/// the same in one step.
struct Update {
  size_t Begin, End;
  std::string_view Target;
  std::string Atomic;
};

/// The one update that a line of code consists of: "X += V", "++X" or "X++".
std::optional<Update> updateIn(std::string_view Line) {
  std::optional<Update> Found;
  for (size_t At = 0; At + 1 < Line.size(); ++At) {
    const char C = Line[At], Next = Line[At + 1];
    size_t Begin = Line.npos, End = Line.npos;
    std::string_view Target, Value = "1";
    if (atomicFor(C) && Next == '=') {
      const size_t TargetEnd =
          Line.find_last_not_of(" \t", At ? At - 1 : 0) + 1;
      Begin = beginOfTarget(Line, TargetEnd);
      const auto Rest = restOfStatement(Line, At + 2);
      if (Begin == Line.npos || !Rest || Rest->empty())
        return std::nullopt;
      Target = Line.substr(Begin, TargetEnd - Begin);
      Value = *Rest;
      End = size_t(Value.data() - Line.data()) + Value.size();
    } else if ((C == '+' || C == '-') && Next == C) {
      const auto Rest = restOfStatement(Line, At + 2);
      if (!Rest)
        continue; // Of a loop's counter.
      if (Rest->empty()) {
        Begin = beginOfTarget(Line, At);
        End = At + 2;
        if (Begin == Line.npos)
          return std::nullopt;
        Target = Line.substr(Begin, At - Begin);
      } else {
        Begin = At;
        End = size_t(Rest->data() - Line.data()) + Rest->size();
        if (beginOfTarget(Line, End) != At + 2)
          return std::nullopt;
        Target = *Rest;
      }
    } else {
      continue;
    }
    At = End;
    if (Found || !beginsStatement(Line, Begin))
      return std::nullopt;
    Found = Update{Begin, End, Target, atomicUpdate(Target, C, Value)};
  }
  return Found;
}

/// Whether the word that follows is the name that a declaration gives: there is
/// a type in front of it, and nothing that declarations lack.
bool declares(std::string_view Before) {
  const size_t Begin = Before.find_last_of(";{}");
  if (Begin != Before.npos)
    Before.remove_prefix(Begin + 1);
  bool HasType = false, IsReturn = false;
  forWords(Before, [&](std::string_view Word) {
    HasType = true;
    IsReturn |= Word == "return";
  });
  return HasType && !IsReturn &&
         std::ranges::all_of(Before,
                             [](char C) {
                               return isWord(C) || isSpace(C) ||
                                      std::string_view(",*&<>:[]").find(C) !=
                                          std::string_view::npos;
                             }) &&
         Before.find("->") == Before.npos;
}

/// Whether a target of an update may be a bit-field, of which there is no
/// address: it is a member that the file does not declare, or its name is that
/// of a bit-field there.
bool mayBeBitField(const SourceCode &C, std::string_view Target) {
  while (Target.ends_with(')'))
    Target = trimmed(Target.substr(0, Target.size() - 1));
  if (Target.ends_with(']'))
    return false; // There are no arrays of bit-fields.
  if (Target.starts_with('*'))
    return false; // And no pointers to them.
  size_t Begin = Target.size();
  while (Begin > 0 && isWord(Target[Begin - 1]))
    --Begin;
  const std::string_view Name = Target.substr(Begin);
  const std::string_view Before = trimmed(Target.substr(0, Begin));
  const bool IsMember = Before.ends_with('.') || Before.ends_with("->");
  bool IsDeclared = false, HasColon = false;
  for (const std::string_view Line : C.Lines)
    forWords(Line, [&](std::string_view Word) {
      if (Word != Name)
        return;
      const size_t At = size_t(Word.data() - Line.data());
      const std::string_view Rest = trimmed(Line.substr(At + Word.size()));
      HasColon |= Rest.starts_with(':') && !Rest.starts_with("::");
      IsDeclared |= declares(Line.substr(0, At)) && !Rest.empty() &&
                    std::string_view(";,={").find(Rest.front()) != Rest.npos;
    });
  return HasColon || (IsMember && !IsDeclared);
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
std::vector<Place> openBraces(const SourceCode &C, size_t Line) {
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
std::string headOf(const SourceCode &C, Place Brace) {
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
std::optional<size_t> placeForBarrier(const SourceCode &C, size_t Upper,
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

/// The line, from 0, in front of which whoever has executed the statement that
/// ends in `Line` comes by next.
std::optional<size_t> placeBehind(const SourceCode &C, size_t Line) {
  if (Line >= C.Lines.size() || !trimmed(C.Lines[Line]).ends_with(';'))
    return std::nullopt;
  size_t Next = Line + 1;
  while (Next < C.Lines.size() && trimmed(C.Lines[Next]).empty())
    ++Next;
  if (Next == C.Lines.size() || C.IsDirective[Next] ||
      trimmed(C.Lines[Next]).starts_with("else") ||
      trimmed(C.Lines[Next]).starts_with("while"))
    return std::nullopt;
  return Next;
}

//===----------------------------------------------------------------------===//
// The kinds of races
//===----------------------------------------------------------------------===//

const SourceFrame *userFrame(const std::optional<SiteInfo> &Site) {
  if (!Site || Site->Frames.empty() || !Site->Operation.empty() || Site->IsHost)
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
    if (F.kind() == abi::RaceKind::ProxyFence)
      return proxyFence();
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
    const SourceCode Code({*Line});
    const auto Found = updateIn(Code.Lines.front());
    if (!Found || mayBeBitField(Sources.code(Later->File), Found->Target))
      return {};
    return {{Later->File, Later->Line, uint32_t(Found->Begin + 1),
             Code.Lines.front().substr(Found->Begin, Found->End - Found->Begin),
             Found->Atomic}};
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
      const std::string Text = SourceCode({*Line}).Lines.front();
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

  /// Behind the write, by the thread that writes.
  std::vector<Edit> proxyFence() {
    const auto At = placeBehind(Sources.code(Earlier->File), Earlier->Line - 1);
    if (!At)
      return {};
    return {{Earlier->File, uint32_t(*At + 1), 1, "",
             "asm volatile(\"fence.proxy.async;\" ::: \"memory\");"}};
  }

  std::vector<Edit> barrier(const char *Statement) {
    // The two lines are in one function and no inlined one. Which access came
    // first in this run does not matter: in each thread the upper line does.
    if (&F.Site->Frames.back() != Later || &F.Other->Frames.back() != Earlier ||
        Later->Function != Earlier->Function || Later->File != Earlier->File ||
        F.Site->Kernel != F.Other->Kernel)
      return {};
    const SourceCode &C = Sources.code(Later->File);
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

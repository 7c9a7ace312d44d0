// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the names in a function's PTX stand for.

#include "Names.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace crsan::lift {

/// The number of the register `Name` in the range `%r<N>`.
static bool isInRange(StringRef Name, const ptx::Variable &V) {
  unsigned Number;
  return Name.consume_front(V.Name) && !Name.getAsInteger(10, Number) &&
         Number < V.Count;
}

const Named *Names::find(StringRef Name, Declare DeclareRegister) {
  for (Scope &S : reverse(Scopes)) {
    if (auto It = S.Variables.find(Name); It != S.Variables.end())
      return &It->second;
    for (const ptx::Variable *V : S.Ranges)
      if (isInRange(Name, *V))
        return &(S.Variables[Name] = DeclareRegister(*V));
  }
  return nullptr;
}

BasicBlock *Names::label(StringRef Name) const {
  for (const Scope &S : reverse(Scopes))
    if (BasicBlock *Block = S.Labels.lookup(Name))
      return Block;
  return nullptr;
}

const ptx::Directive *Names::directive(StringRef Label) const {
  for (const Scope &S : reverse(Scopes))
    if (const ptx::Directive *D = S.Directives.lookup(Label))
      return D;
  return nullptr;
}

} // namespace crsan::lift

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the names in a function's PTX stand for.
#ifndef CRSAN_LIFT_NAMES_H
#define CRSAN_LIFT_NAMES_H

#include "PTX/AST.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Instructions.h"

#include <vector>

namespace crsan::lift {

/// A register, or a variable that is declared in a function.
struct Named {
  /// Where the value is: an alloca of a register, a parameter or a `.local`
  /// variable, an argument that is passed by value, or a global variable.
  llvm::Value *Storage = nullptr;
  llvm::Type *Type = nullptr; ///< Of the whole.
  ptx::StateSpace Space = ptx::StateSpace::None;
};

/// The names of a block within blocks.
class Names {
public:
  using Declare = llvm::function_ref<Named(const ptx::Variable &)>;

  void enter() { Scopes.emplace_back(); }
  void leave() { Scopes.pop_back(); }

  void add(llvm::StringRef Name, Named What) {
    Scopes.back().Variables[Name] = What;
  }
  /// Registers %r0, %r1, ..., each of which is declared when it is first used.
  void addRange(const ptx::Variable &V) { Scopes.back().Ranges.push_back(&V); }
  void addLabel(llvm::StringRef Name, llvm::BasicBlock *Block) {
    Scopes.back().Labels[Name] = Block;
  }
  void addDirective(const ptx::Directive &D) {
    Scopes.back().Directives[llvm::StringRef(D.Label)] = &D;
  }

  /// Null: nothing in this function has this name. `DeclareRegister` gives
  /// a register of a range its storage.
  const Named *find(llvm::StringRef Name, Declare DeclareRegister);
  llvm::BasicBlock *label(llvm::StringRef Name) const;
  /// `.branchtargets` or `.callprototype` of this label; null: there is none.
  const ptx::Directive *directive(llvm::StringRef Label) const;

private:
  struct Scope {
    llvm::StringMap<Named> Variables;
    std::vector<const ptx::Variable *> Ranges;
    llvm::StringMap<llvm::BasicBlock *> Labels;
    llvm::StringMap<const ptx::Directive *> Directives;
  };
  std::vector<Scope> Scopes;
};

} // namespace crsan::lift

#endif // CRSAN_LIFT_NAMES_H

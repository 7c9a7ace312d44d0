// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What names mean in a function's blocks.
#ifndef CRSAN_SIM_NAMES_H
#define CRSAN_SIM_NAMES_H

#include "Program.h"

namespace crsan::sim {

/// Of one block of a function; what is not found in it may be in its parent.
struct Names {
  /// "%r<10>": registers that lie one after the other.
  struct Family {
    Ref First;
    uint32_t Count = 0;
  };
  template <class T> using Map = std::unordered_map<std::string_view, T>;

  const Names *Parent = nullptr;
  Map<Ref> Registers;
  Map<Family> Families;
  Map<Slot> Params;
  Map<uint32_t> Locals;
  Map<uint64_t> Globals;
  Map<uint32_t> Shared;
  Map<uint32_t> Labels;
  Map<const ptx::Directive *> Directives;

  /// Null: the name is none of these.
  template <class T>
  const T *find(Map<T> Names::*Which, std::string_view Name) const {
    for (const Names *N = this; N; N = N->Parent)
      if (auto It = (N->*Which).find(Name); It != (N->*Which).end())
        return &It->second;
    return nullptr;
  }
  /// Alone or of a family. Not valid: there is none.
  Ref findRegister(std::string_view Name) const;
};

} // namespace crsan::sim

#endif // CRSAN_SIM_NAMES_H

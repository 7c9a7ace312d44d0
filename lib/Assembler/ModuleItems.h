// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a PTX module declares.
#ifndef CRSAN_ASSEMBLER_MODULEITEMS_H
#define CRSAN_ASSEMBLER_MODULEITEMS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <vector>

namespace crsan::assembler {

/// A directive of file scope with all that belongs to it, as a part of the
/// module's text. Comments between items belong to no item.
struct ModuleItem {
  enum class Kind {
    Header,   ///< .version, .target or .address_size.
    Kernel,   ///< .entry
    Function, ///< .func
    Other,    ///< A variable, .file, .section, ...
  };
  Kind What = Kind::Other;
  llvm::StringRef Text;
  llvm::StringRef Signature; ///< The text before a body, initialiser or `;`.
  llvm::StringRef Linkage;   ///< `.visible`, `.weak`, `.extern`; empty: none.
  llvm::StringRef Name;      ///< What is declared; empty if nothing is.
  bool HasBody = false;

  bool isCode() const { return What == Kind::Kernel || What == Kind::Function; }
  bool definesKernel() const { return What == Kind::Kernel && HasBody; }
  llvm::StringRef signatureWithoutLinkage() const {
    return Signature.drop_front(Linkage.size());
  }
};

/// The items of a module in the order of its text; an error if one of them has
/// no end.
llvm::Expected<std::vector<ModuleItem>> readItems(llvm::StringRef PTX);

} // namespace crsan::assembler

#endif // CRSAN_ASSEMBLER_MODULEITEMS_H

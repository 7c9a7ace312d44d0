// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Telling what is not checked.
#ifndef CRSAN_TRANSFORMS_SITES_OMISSION_H
#define CRSAN_TRANSFORMS_SITES_OMISSION_H

#include "Events/Event.h"
#include "crsan/abi/SiteTable.h"
#include "llvm/Analysis/OptimizationRemarkEmitter.h"

namespace crsan {

/// Why `Reason` leaves an access unchecked that might race; nothing: it does
/// not.
std::optional<abi::Omission> omissionOf(Skip Reason);

/// Whether `Reason` leaves an access unchecked that might race, without the
/// user's having asked for it.
bool isOmission(Skip Reason);

/// What a module leaves unchecked.
struct Omissions {
  struct Entry {
    llvm::DebugLoc Location;
    const llvm::Function *F;
    abi::Omission Why;
  };
  uint32_t Unchecked = 0; ///< Each with a remark.
  uint32_t Exempt = 0;    ///< In functions that the user exempted.
  std::vector<Entry> List;

  Omissions &operator+=(const Omissions &Other) {
    Unchecked += Other.Unchecked;
    Exempt += Other.Exempt;
    llvm::append_range(List, Other.List);
    return *this;
  }

  /// Notes an access that is left unchecked for `Reason`, and remarks it: at
  /// the line of the user's if the access itself is in a header of the
  /// toolkit's, or at each of them if they share a function that was not
  /// inlined.
  void note(const llvm::Instruction &I, Skip Reason,
            llvm::OptimizationRemarkEmitter &ORE);
};

} // namespace crsan

#endif // CRSAN_TRANSFORMS_SITES_OMISSION_H

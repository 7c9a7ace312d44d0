// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction does, as threads see it.
//
// The one description of what an instruction does to memory and between
// threads. eventsOf() reads LLVM's own instructions (Instructions.cpp), NVVM's
// intrinsics (Intrinsics.cpp) and inline PTX (Assembly.cpp); both detectors,
// and all else that asks what an instruction does, look at its events. Where an
// effect is not known, more synchronisation is assumed than there is, never
// less: a race may then be missed, but none is made up.
#ifndef CRSAN_TRANSFORMS_EVENTS_EVENT_H
#define CRSAN_TRANSFORMS_EVENTS_EVENT_H

#include "Events/Memory.h"
#include "PTX/Classify.h"
#include "crsan/abi/MemoryModel.h"
#include "crsan/abi/Site.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"

#include <optional>
#include <variant>

namespace crsan {

/// Memory, as an instruction names it.
struct Location {
  llvm::Value *Base = nullptr; ///< A pointer or, in assembly, an integer.
  unsigned Space = 0;          ///< The address space that Base belongs to.
  int64_t Offset = 0;          ///< Bytes from Base.
};

/// The condition under which an instruction of inline PTX is executed: an
/// operand of the statement is compared with a constant.
struct Condition {
  llvm::Value *Operand = nullptr; ///< Null: there is no condition.
  uint64_t Constant = 0;
  bool HoldsIfEqual = false;
};

/// A read, a write or an update of memory. It is *strong* if it is atomic or
/// volatile or has an order, and then may be part of a synchronisation; else
/// it is *weak* and orders nothing. An instruction whose type has padding makes
/// several.
struct Access {
  Location Where;
  uint8_t Flags = 0;      ///< abi::AccessFlags.
  uint64_t Size = 0;      ///< Bytes; 0: Length.
  uint64_t WholeSize = 0; ///< Bytes of the whole instruction, for the report.
  llvm::Value *Length = nullptr; ///< Bytes, where only known at run time.
  Condition If = {};             ///< Of a weak access in inline PTX.
  llvm::Align Alignment = {};    ///< Of Where.Base, of a weak access.
  /// The value that a store writes, if it is known; of several accesses of one
  /// instruction, the first one's alone.
  llvm::Value *Written = nullptr;
  /// A weak load in inline PTX that names a cache operation (.ca, .cg, .cv).
  bool NamesCache = false;

  // Of a strong access:
  abi::Scope Scope = abi::Scope::Block;
  abi::MemoryOrder Order = abi::MemoryOrder::Weak;
  uint32_t Roles = 0; ///< abi::AccessRoles.
  /// Of a compare-and-swap: the value that it compares with, and which element
  /// of the instruction's result is the value that it found (-1: the whole
  /// result). Null if that is hard to say.
  llvm::Value *Expected = nullptr;
  int Result = -1;

  bool isStrong() const { return Flags & abi::IsStrong; }
  bool reads() const { return Flags & abi::ReadsMemory; }
  bool writes() const { return Flags & abi::WritesMemory; }
  /// Whether all of `Size` bytes are sure to be accessed.
  bool isWhole() const { return !Length && !If.Operand; }
};

/// The write of an asynchronous copy, cp.async: it begins here, and ends when
/// its thread has waited for it (AwaitCopies). The copy's read of its source is
/// an Access.
struct Copy {
  Access To;
};
struct CommitCopies {}; ///< The thread's copies so far are a group.
/// All groups of the thread's copies but the last `Number` have ended.
struct AwaitCopies {
  llvm::Value *Number = nullptr; ///< Null: all copies have ended.
};

struct Fence {
  abi::Scope Scope;
  /// In inline PTX: before the fence, the statement only makes weak accesses,
  /// and something behind the fence hands on what the fence acquires.
  bool IsAhead = false;
};
/// A barrier of the lanes of a warp in `Mask`.
struct WarpBarrier {
  llvm::Value *Mask;
};
/// A barrier of all threads of the block; `Number` names it.
struct BlockBarrier {
  Location Number;
  abi::Scope Scope = abi::Scope::Block;
};
/// This thread arrives at an object: threads that then wait there come after
/// it.
struct Arrive {
  Location Where;
  abi::Scope Scope;
  /// Relaxed: only what a fence before it has made ready is handed on.
  abi::MemoryOrder Order = abi::MemoryOrder::Weak;
  bool IsCounted = false; ///< Where is the number of a barrier of the block.
};
/// This thread has waited at an object: it comes after the threads that had
/// arrived there.
struct Wait {
  Location Where;
  abi::Scope Scope;
  /// Relaxed: only a fence behind it acquires.
  abi::MemoryOrder Order = abi::MemoryOrder::Weak;
  bool IsCounted = false; ///< Where is the number of a barrier of the block.
  /// Stands for the strong read at Where, which is not followed as one.
  bool IsByAccess = false;
};
/// The lanes of a warp exchange values, or execute a matrix operation together:
/// memory is not ordered.
struct Collective {};
/// The statement may acquire anything, and hand it on at once.
struct Learn {};
/// The instruction may do anything.
struct Unknown {};
/// The instruction orders no memory, but is no plain computation either: a
/// texture, an asynchronous operation that is not followed, a branch within
/// inline PTX, a function of LLVM's with effects of its own.
struct Opaque {};
/// A call of a function that is not inlined.
struct Call {
  /// The callee is defined in this module, and so has events of its own, or is
  /// a function of CUDA's that neither waits for another thread nor tells one
  /// anything.
  bool IsKnown = false;
};
/// `Length` bytes at `Where` come from the device's heap: they have no past.
struct Allocate {
  Location Where;
  llvm::Value *Length;
};
struct Leave {}; ///< The thread ends.

using Event = std::variant<Access, Copy, CommitCopies, AwaitCopies, Fence,
                           WarpBarrier, BlockBarrier, Arrive, Wait, Collective,
                           Learn, Unknown, Opaque, Call, Allocate, Leave>;

template <typename... Kinds> bool isOneOf(const Event &E) {
  return (std::holds_alternative<Kinds>(E) || ...);
}
inline const Access *asAccess(const Event &E) {
  return std::get_if<Access>(&E);
}
/// Whether the event may order memory between threads, or is an access that
/// metadata mode follows.
inline bool isFollowed(const Event &E) {
  const auto *C = std::get_if<Call>(&E);
  return !isOneOf<Collective, Opaque>(E) && !(C && C->IsKnown);
}
inline bool isWeak(const Event &E) {
  const Access *A = asAccess(E);
  return A && !A->isStrong();
}
inline bool isStrong(const Event &E) {
  const Access *A = asAccess(E);
  return A && A->isStrong();
}

/// Why an access is left unchecked. Those from Speculated on are omissions
/// (Omission.h), which are counted and remarked.
enum class Skip {
  None,
  Private,     ///< Local, constant or parameter memory: cannot race.
  Ignored,     ///< In a function that the user exempted.
  Strong,      ///< Atomic or volatile: not a weak access.
  Speculated,  ///< A load that may run where the source would not run it.
  Assembly,    ///< Weak, but in inline PTX.
  Copy,        ///< By an asynchronous copy or matrix operation.
  Matrix,      ///< A matrix load or store of a warp.
  Texture,     ///< By a texture or a surface.
  Unknown,     ///< By an instruction that is not known.
  Unsupported, ///< A kind, length or type that cannot be checked.
};

/// All that one instruction does, in order.
struct Events {
  llvm::SmallVector<Event, 2> List;
  /// Why some access of the instruction is not in the list; metadata mode
  /// leaves that access unchecked.
  Skip Unlisted = Skip::None;
  /// Why the collider leaves some access of the instruction unchecked.
  Skip ByCollider = Skip::None;
  bool MayLeave = false; ///< The thread may end here, or may not.
  bool Branches = false; ///< Inline PTX with a branch or a label.

  void add(Event E) { List.push_back(std::move(E)); }
  template <typename... Kinds> bool has() const {
    return llvm::any_of(List,
                        [](const Event &E) { return isOneOf<Kinds...>(E); });
  }
};

Events eventsOf(const llvm::Instruction &I);

/// Rule 3: whether a window of the collider may continue across the
/// instruction: everything that is not known to be harmless may synchronise.
bool keepsWindow(const Events &All);

/// The accesses of the instruction that the collider checks.
llvm::SmallVector<Access, 2> checkedByCollider(const llvm::Instruction &I,
                                               const Events &All);

/// Whether the instruction can wait for another thread's write beyond its
/// block: a strong read, an exchange whose result is used, assembly that
/// accesses memory, or a call that may contain one.
bool mayWait(const llvm::Instruction &I);

/// Whether the instruction reads memory strongly or past the caches, or updates
/// it atomically: ptxas may take it for part of a poll. What a called function
/// does is the called function's.
bool mayPoll(const Events &All);

//===----------------------------------------------------------------------===//
// For the readers
//===----------------------------------------------------------------------===//

Events eventsOfIntrinsic(llvm::IntrinsicInst &Call);
Events eventsOfAssembly(llvm::CallBase &Call);

Location locationOf(llvm::Value *Pointer);

/// A relaxed access of system scope; `T` is its type.
Access strongAccess(llvm::Instruction &I, llvm::Value *Pointer, llvm::Type *T,
                    uint8_t Flags);

/// What cp.async copies: `Size` bytes of global into shared memory, of which
/// the first `Read` are read and the others zero.
struct CopyOperands {
  Location To, From;
  uint64_t Size;
  llvm::Value *Read = nullptr; ///< Null: all of them.
  /// Whether the copy is made, and whether it reads at all.
  Condition If = {}, IfRead = {};
};
void addCopy(Events &To, const CopyOperands &C);

/// Adds what orders memory other than by an access. `Object` is what
/// ptx::Ordering calls so; where it is needed and missing, it may be anything.
void addOrdering(Events &To, const ptx::InstructionClass &C,
                 std::optional<Location> Object);

/// Why an instruction of this category leaves its access unlisted.
Skip skipOf(ptx::Category What);
/// The same of an intrinsic, where only LLVM's own loads and stores are
/// checked. An intrinsic that may access memory, and is not known not to,
/// counts as an access.
Skip skipOf(const llvm::IntrinsicInst &Intrinsic);
Skip skipOf(llvm::Intrinsic::ID Id, llvm::StringRef Name,
            llvm::MemoryEffects Effects);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_EVENTS_EVENT_H

//===- Event.h - What an instruction does between threads -*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Metadata mode follows the order of the program's memory operations exactly,
// so it has to know what each instruction does in the memory model's terms:
// LLVM's own instructions, NVVM's intrinsics (Event.cpp) and inline PTX
// (AssemblyEvents.cpp). Where that is not known, more synchronisation is
// assumed than there is, never less: a race may then be missed, but none is
// made up.
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_TRANSFORMS_EVENT_H
#define CRSAN_TRANSFORMS_EVENT_H

#include "Access.h"
#include "PTX/Classify.h"
#include "crsan/Metadata.h"

namespace crsan {

/// Memory, as an instruction names it.
struct Place {
  llvm::Value *Base = nullptr; ///< A pointer or, in assembly, an integer.
  unsigned Space = 0;          ///< The address space that Base belongs to.
  int64_t Offset = 0;          ///< Bytes from Base.
};

/// A condition of assembly's: what an operand is compared with.
struct Guard {
  llvm::Value *Operand = nullptr; ///< Null: there is no condition.
  uint64_t Constant = 0;
  bool HoldsIfEqual = false;
};

struct Event {
  enum class Kind : uint8_t {
    Weak,         ///< An access that orders nothing.
    Strong,       ///< An access that may be part of a synchronisation.
    Fence,        ///< Of `Scope`.
    WarpBarrier,  ///< Of the lanes in `Mask`.
    BlockBarrier, ///< Of all threads of the block, at `Where`.
    Publish,      ///< Whoever collects from `Where` comes after this thread.
    Collect,      ///< This thread comes after whoever published to `Where`.
    Copy,         ///< A write that begins here and ends when it is waited for.
    CommitCopies, ///< All copies of this thread so far are a group.
    AwaitCopies,  ///< All its groups but the last `Length` have ended.
    Learn,        ///< May acquire anything, and hand it on at once.
    Unknown,      ///< Anything.
    Call,         ///< Of a function of another module, perhaps.
    Allocate,     ///< `Length` bytes at `Where` begin anew, with no past.
    Leave,        ///< The thread ends.
  };
  Kind What;
  /// Of Weak, Strong, BlockBarrier, Publish, Collect, Copy and Allocate.
  Place Where = {};
  abi::SyncScope Scope = abi::SyncScope::Block;

  // Of Weak, Strong and Copy:
  uint8_t Flags = 0; ///< abi::AccessFlags.
  /// Also of a Publish, which is Relaxed if it publishes what a fence before it
  /// has made ready, and of a Collect, if a fence behind it collects.
  abi::SyncOrder Order = abi::SyncOrder::Weak;
  uint32_t Roles = 0;     ///< abi::AccessRoles.
  uint64_t Size = 0;      ///< Bytes; 0: Length.
  uint64_t WholeSize = 0; ///< Bytes of the whole instruction, for the report.
  /// Of AwaitCopies: a number; null: all copies have ended.
  llvm::Value *Length = nullptr;
  Guard If = {}; ///< Of Weak and Copy.
  /// Of a compare-and-swap: what it compares with, and which element of the
  /// instruction's result is what was there (-1: the whole result). Null if
  /// that is hard to say.
  llvm::Value *Expected = nullptr;
  int Result = -1;
  /// Of a Strong that writes: the value, if it is known. A compare-and-swap may
  /// write it.
  llvm::Value *Written = nullptr;

  llvm::Value *Mask = nullptr; ///< Of a WarpBarrier.
  /// Of a Fence: nothing of its instruction comes before it but weak accesses,
  /// and something behind it hands on what it acquires.
  bool IsAhead = false;
  /// Of a Publish or a Collect: at a barrier of the block's, by its number.
  bool IsCounted = false;

  /// Whether all of `Size` bytes are sure to be accessed.
  bool isWhole() const { return !Length && !If.Operand; }
};

/// All that one instruction does, in order.
struct Events {
  llvm::SmallVector<Event, 2> List;
  Skip Skipped = Skip::None; ///< Why some access of it is not in the list.
  bool MayLeave = false;     ///< The thread may end here, or may not.
};

Events eventsOf(llvm::Instruction &I);

/// Of inline PTX (AssemblyEvents.cpp).
Events eventsOfAssembly(llvm::CallBase &Call);

/// What cp.async copies: `Size` bytes of global into shared memory, of which
/// the first `Read` are read and the others zero.
struct Copy {
  Place To, From;
  uint64_t Size;
  llvm::Value *Read = nullptr; ///< Null: all of them.
  /// Whether it is made, and whether it reads at all.
  Guard If = {}, IfRead = {};
};
void addCopy(Events &To, const Copy &C);

/// Adds what orders memory other than by an access. `Object` is what
/// ptx::Ordering calls so; where it is needed and missing, it may be anything.
void addOrdering(Events &To, const ptx::InstructionClass &C,
                 std::optional<Place> Object);

/// Gives CUDA's own atomic functions (atomicAdd, ...) in `F` the order and the
/// scope that the programming guide gives them, which clang does not: relaxed,
/// of the device. Call before anything is inlined.
void relaxLegacyAtomics(llvm::Function &F);

} // namespace crsan

#endif // CRSAN_TRANSFORMS_EVENT_H

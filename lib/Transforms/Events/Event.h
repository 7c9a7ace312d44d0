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
#include "crsan/abi/MatrixOperand.h"
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

/// The rows of a matrix that the lanes of a warp read or write by one
/// instruction. Which lane gets which element is not said: a row counts as an
/// access of the lane that has its number.
struct MatrixRows {
  unsigned Lanes = 0; ///< Lanes that have a row, from lane 0 on; 0: no matrix.
  /// Lane I has the row at the instruction's address plus I * Stride * Scale
  /// bytes. Null: each lane has an address of its own.
  llvm::Value *Stride = nullptr;
  unsigned Scale = 0;
};

/// The most dimensions that a tensor can have.
inline constexpr size_t MaxDimensions = 5;
/// The box of a tensor that a tensor copy (cp.async.bulk.tensor) copies. Only
/// the tensor map, which is read at run time, says how large the box is and
/// where it lies in global memory.
struct TensorBox {
  Location Map;
  llvm::SmallVector<llvm::Value *, 5> Coordinates = {}; ///< Innermost first.
  bool InShared = false; ///< The access is of the box's copy in shared memory.
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
  /// Of the destination of a multicast copy: a mask of the blocks of the
  /// cluster in which the place of Where is written. Null: Where says it all.
  llvm::Value *Blocks = nullptr;
  /// Of a tensor copy. It has neither Size nor Length, and outside shared
  /// memory Where is no address.
  std::optional<TensorBox> Box = std::nullopt;
  MatrixRows Rows = {};       ///< Of a matrix instruction.
  llvm::Align Alignment = {}; ///< Of Where.Base, of a weak access.
  /// The value that a store writes, if it is known; of several accesses of one
  /// instruction, the first one's alone.
  llvm::Value *Written = nullptr;
  /// A weak load in inline PTX that names a cache operation (.ca, .cg, .cv).
  bool NamesCache = false;

  uint32_t Roles = 0; ///< abi::AccessRoles.

  // Of a strong access:
  abi::Scope Scope = abi::Scope::Block;
  abi::MemoryOrder Order = abi::MemoryOrder::Weak;
  /// Of a compare-and-swap: the value that it compares with, and which element
  /// of the instruction's result is the value that it found (-1: the whole
  /// result). Null if that is hard to say.
  llvm::Value *Expected = nullptr;
  int Result = -1;

  bool isStrong() const { return Flags & abi::IsStrong; }
  bool reads() const { return Flags & abi::ReadsMemory; }
  bool writes() const { return Flags & abi::WritesMemory; }
  /// Whether the number of bytes is known at run time only.
  bool hasLength() const { return Length || Box; }
  /// Whether all of `Size` bytes are sure to be accessed, by each lane.
  bool isWhole() const {
    return !hasLength() && !If.Operand && !Blocks &&
           (Rows.Lanes == 0 || Rows.Lanes == 32);
  }
};

/// What says that an asynchronous access has happened.
enum class Completion : uint8_t {
  Group,     ///< Its thread waits for the access (cp.async.wait_group).
  BulkGroup, ///< The same (cp.async.bulk.wait_group).
  Barrier,   ///< Any thread waits at an mbarrier that counts the bytes.
  Product,   ///< A thread of the warp group waits (wgmma.wait_group).
};

/// One side of an asynchronous copy, or an asynchronous store: it is issued
/// here, and happens at some time before its completion.
struct AsyncAccess {
  Access What;
  Completion By = Completion::Group;
  Location Barrier = {}; ///< The mbarrier.
  /// What is read for several blocks: any of their mbarriers tells that it has
  /// been read, not only Barrier.
  bool IsForMany = false;
};
/// An operand of a matrix product (wgmma.mma_async), which the warp group reads
/// in shared memory at some time between here and its wait for the product.
struct OperandRead {
  /// Of all of the operand. The base of its location is the matrix descriptor.
  Access What;
  uint32_t Shape = 0; ///< abi::MatrixOperand::Shape.
};
/// The thread's copies so far that complete by groups are a group.
struct CommitCopies {
  Completion By = Completion::Group;
};
/// All groups of the thread's copies but the last `Number` have ended.
struct AwaitCopies {
  Completion By = Completion::Group;
  llvm::Value *Number = nullptr; ///< Null: all copies have ended.
  bool OnlyReads = false;        ///< Only what the copies read is waited for.
};

struct Fence {
  abi::Scope Scope;
  /// In inline PTX: before the fence, the statement only makes weak accesses,
  /// and something behind the fence hands on what the fence acquires.
  bool IsAhead = false;
};
/// A fence between the generic and the asynchronous proxy, or what one may
/// follow.
struct ProxyFence {
  /// In inline PTX: the statement has other events, before or behind it.
  bool IsAmongOthers = false;
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

using Event =
    std::variant<Access, AsyncAccess, OperandRead, CommitCopies, AwaitCopies,
                 Fence, ProxyFence, WarpBarrier, BlockBarrier, Arrive, Wait,
                 Collective, Learn, Unknown, Opaque, Call, Allocate, Leave>;

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
/// Whether the event may order memory between warps in any way but as a barrier
/// of all threads of the block, or may be a part of what does. A relaxed update
/// may: a fence makes it order.
inline bool mayOrderBeyondBarriers(const Event &E) {
  if (const auto *Barrier = std::get_if<BlockBarrier>(&E))
    return Barrier->Scope != abi::Scope::Block;
  if (const auto *Copy = std::get_if<AsyncAccess>(&E))
    return Copy->By != Completion::Group;
  return !isWeak(E) &&
         !isOneOf<WarpBarrier, Collective, CommitCopies, AwaitCopies, Leave>(E);
}
inline bool isStrong(const Event &E) {
  const Access *A = asAccess(E);
  return A && A->isStrong();
}
/// The access that the event makes, at once or later; null: none.
inline const Access *anyAccess(const Event &E) {
  const auto *Async = std::get_if<AsyncAccess>(&E);
  if (const auto *Operand = std::get_if<OperandRead>(&E))
    return &Operand->What;
  return Async ? &Async->What : asAccess(E);
}
/// Whether the event is a bulk copy's read: an implicit fence between the
/// proxies follows its completion.
inline bool isBulkRead(const Event &E) {
  const auto *Async = std::get_if<AsyncAccess>(&E);
  return Async && Async->By != Completion::Group && !Async->What.writes();
}
/// Whether the event is an access, at once or later, that orders nothing.
inline bool isWeakOrLater(const Event &E) {
  return isWeak(E) || std::holds_alternative<AsyncAccess>(E);
}

/// Why an access is left unchecked. Those from Speculated on are omissions
/// (Omission.h), which are counted and remarked.
enum class Skip {
  None,
  Private,     ///< Local, constant or parameter memory: cannot race.
  Ignored,     ///< In a function that the user exempted.
  Strong,      ///< Atomic or volatile: not a weak access.
  Speculated,  ///< A load that may run where the source would not run it.
  Assembly,    ///< In inline PTX that computes its address or synchronises.
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

/// The events of the instruction whose accesses the collider checks.
llvm::SmallVector<Event, 2> checkedByCollider(const llvm::Instruction &I,
                                              const Events &All);

/// Whether the instruction is `__syncthreads()` or a kind of it with a result:
/// all threads of the block that have not exited must come to it together, by
/// CUDA C++. PTX and the other intrinsics know barriers by number, not by
/// place.
bool isSyncThreads(const llvm::Instruction &I);
/// The attribute of a call of a barrier that has been PTX: there,
/// __syncthreads() is not told from a barrier in inline assembly, and so is not
/// judged as one.
inline constexpr char FromPTX[] = "crsan-from-ptx";

/// Whether the instruction can wait for another thread's write beyond its
/// block: a strong read, an exchange whose result is used, assembly that
/// accesses memory, or a call that may contain one.
bool mayWait(const llvm::Instruction &I);

/// Whether the instruction reads memory strongly or past the caches, or updates
/// it atomically: ptxas may take it for part of a poll. What a called function
/// does is the called function's.
bool mayPoll(const Events &All);

/// Whether several warps have to execute this very instruction together
/// (`wgmma` and `setmaxnreg`; all of `tcgen05` counts).
bool isOfSeveralWarps(const llvm::Instruction &I);

/// Functions of CUDA's that neither wait for another thread nor tell one
/// anything.
bool isHarmless(const llvm::Function &F);

/// What a function of CUDA's does with the device's heap.
enum class HeapUse { None, Takes, Frees };
HeapUse heapUseOf(const llvm::Function &F);

//===----------------------------------------------------------------------===//
// For the readers
//===----------------------------------------------------------------------===//

Events eventsOfIntrinsic(llvm::IntrinsicInst &Call);
Events eventsOfAssembly(llvm::CallBase &Call);
/// Whether the inline assembly is a single instruction.
bool isOneInstruction(const llvm::CallBase &Assembly);

Location locationOf(llvm::Value *Pointer);

/// A relaxed access of system scope; `T` is its type.
Access strongAccess(llvm::Instruction &I, llvm::Value *Pointer, llvm::Type *T,
                    uint8_t Flags);

/// What an asynchronous copy copies, or an asynchronous store stores.
struct CopyOperands {
  Location To;
  Location From;     ///< No Base: a store.
  llvm::Value *Size; ///< In bytes; null: Tensor says it.
  llvm::Value *Read =
      nullptr; ///< So many are read, the others zero; null: all.
  /// Whether the copy is made, and whether it reads at all.
  Condition If = {}, IfRead = {};
  Completion By = Completion::Group;
  Location Barrier = {};         ///< Of Completion::Barrier.
  bool IsUpdate = false;         ///< What is there is updated, atomically.
  llvm::Value *Blocks = nullptr; ///< As Access::Blocks.
  /// Of a tensor copy, whose To or From is in shared memory.
  std::optional<TensorBox> Tensor = std::nullopt;
};
void addCopy(Events &To, const CopyOperands &C);

/// Adds the rows that a matrix instruction reads or writes. `Pointer` is its
/// address and `Stride` its operand of this name, or null.
void addMatrix(Events &To, const ptx::InstructionClass &C, Location Pointer,
               llvm::Value *Stride);

/// Adds an operand of a matrix product, with its descriptor and its shape.
void addOperand(Events &To, llvm::Value *Descriptor, uint32_t Shape);

/// Adds what orders memory other than by an access. `Object` is what
/// ptx::Ordering calls so; where it is needed and missing, it may be anything.
void addOrdering(Events &To, const ptx::InstructionClass &C,
                 std::optional<Location> Object);

/// Adds an asynchronous operation that is not followed.
void addUnfollowed(Events &To, const ptx::InstructionClass &C);

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

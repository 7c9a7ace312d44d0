// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What inline PTX does.
//
// What the pass has to know of an assembly instruction: whether it accesses
// memory, how strongly, and whether it may order memory (docs/soundness.md,
// rules 3 and 6). An instruction that is not listed is Unknown, and an Unknown
// instruction may do anything.
#ifndef CRSAN_PTX_CLASSIFY_H
#define CRSAN_PTX_CLASSIFY_H

#include "PTX/AST.h"
#include "crsan/abi/MemoryModel.h"

#include <optional>

namespace crsan::ptx {

enum class Category : uint8_t {
  Harmless,        ///< Arithmetic, moves, special registers, address tests.
  WeakAccess,      ///< ld and st without an order, ld.global.nc.
  StrongAccess,    ///< Volatile, relaxed, acquire, release; atom, red.
  Synchronisation, ///< Barriers, fences, waits and commits of copies.
  AsyncCopy,       ///< cp.async and others that access memory later.
  Convergent,      ///< shfl, vote, mma, ...: the lanes of a warp act together.
  MatrixAccess,    ///< ldmatrix, stmatrix, wmma.load, wmma.store: weak.
  TextureAccess,   ///< Textures and surfaces, which have a cache of their own.
  ControlFlow,     ///< Branches, calls, exit, trap: the next instruction may
                   ///< not follow.
  Unknown,
};

/// How an instruction orders the memory of threads, other than by an access.
enum class Ordering : uint8_t {
  None,
  Fence,
  WarpBarrier,  ///< Of the lanes in Object, a mask.
  BlockBarrier, ///< Of all threads of the block.
  // Of the threads that meet at Object, the address of an mbarrier or of an
  // annotation, or the number of a named barrier:
  Arrival,
  Wait,
  ArrivalAndWait,
  // Of the cluster, which has one barrier:
  ClusterArrival,
  ClusterWait,
  // Of a thread's own asynchronous copies:
  CopyCommit,  ///< The copies since the last commit are a group.
  CopyWait,    ///< For all groups but the last ones, whose number is Object; no
               ///< Object: for all groups.
  CopyArrival, ///< As Arrival, once the copies have ended.
  Other, ///< In a way that is not listed. An Unknown instruction may, too.
};

/// The rows of a matrix in memory, of which each is contiguous.
struct MatrixRows {
  uint32_t Number = 0; ///< 0: not known.
  uint32_t Bytes = 0;  ///< Of each.
  uint32_t ElementBits = 0;
  bool AreTransposed = false; ///< The lanes get columns.
  /// Row I is I times a stride from the one address that all lanes give; else
  /// lane I gives the address of row I.
  bool HaveOneAddress = false;
};

struct InstructionClass {
  Category What = Category::Unknown;
  // Of a WeakAccess, a StrongAccess or a MatrixAccess:
  uint8_t Flags = 0;                   ///< abi::AccessFlags.
  StateSpace Space = StateSpace::None; ///< Generic if none is written.
  ScalarType Type = ScalarType::None;
  uint32_t Size = 0;                ///< Bytes of a lane; 0: not known.
  const Operand *Address = nullptr; ///< An operand of the instruction.
  MatrixRows Rows = {};             ///< Of a MatrixAccess.

  // Of what orders memory, a StrongAccess or a Synchronisation:
  Ordering Orders = Ordering::None;
  abi::Scope Scope = abi::Scope::System;
  /// Of an access; of an arrival or a wait at an mbarrier or at the cluster's
  /// barrier: Relaxed if only a fence makes it a release or an acquire.
  abi::MemoryOrder Order = abi::MemoryOrder::Weak;
  bool IsVolatile = false;         ///< ld.volatile, st.volatile
  const Operand *Object = nullptr; ///< See Ordering.
  bool IsNumbered = false;         ///< Object is the number of a barrier.
  // Of CopyCommit and CopyWait:
  bool IsBulk = false;    ///< The groups are those of cp.async.bulk, ...
  bool IsProduct = false; ///< ... or those of wgmma.
  bool OnlyReads = false; ///< The wait is for what the copies read.
  /// Behind it, what the asynchronous proxy reads includes what the generic
  /// proxy wrote before: fence.proxy.async, or a wait for operations whose
  /// completion is followed by such a fence.
  bool IsProxyFence = false;
  /// Of an AsyncCopy: it accesses memory through the asynchronous proxy (PTX
  /// ISA, "Async Proxy").
  bool IsByAsyncProxy = false;

  bool reads() const { return Flags & abi::ReadsMemory; }
  bool writes() const { return Flags & abi::WritesMemory; }
};

/// What a program tells detectors (crsan/crsan.h).
enum class Annotation : uint8_t {
  HappensBefore, ///< What this thread has done comes before what a thread does
  HappensAfter,  ///< that later reaches this one, with the same address.
  BenignBegin,   ///< Weak accesses of this thread are not checked from here
  BenignEnd,     ///< to here.
  /// The value is the number of the iteration of the loops around the
  /// __syncthreads() that follows; told by the pass (Iterations.h).
  Iteration,
};
/// An annotation is a move of an address (or number) to a register whose name
/// says which it is: no assembler makes anything of it. Nothing for other
/// instructions.
std::optional<Annotation> annotationOf(const Instruction &I);

/// The bytes that the load behind the directive has to read, a bit each, from
/// the first: `.pragma "used_bytes_mask 0xfff0"`. The others fill gaps between
/// what the source reads. AllBytes for other directives.
inline constexpr uint32_t AllBytes = ~0u;
uint32_t usedBytes(const Directive &D);

InstructionClass classify(const Instruction &I);

} // namespace crsan::ptx

#endif // CRSAN_PTX_CLASSIFY_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decoded code.
//
// What the machine executes: PTX with registers resolved to rows of a frame,
// symbols to addresses, opcodes to functions.
//
// A row holds one value of each of the 32 lanes of a warp, contiguously, so
// that a loop over the lanes of an operation vectorises. Constants, special
// registers and the addresses of shared variables are rows too: every operand
// of an instruction is a row in one of few arrays (Ref). A predicate is one
// word, a bit a lane.
#ifndef CRSAN_SIM_PROGRAM_H
#define CRSAN_SIM_PROGRAM_H

#include "Machine.h"

#include "PTX/AST.h"

#include <array>
#include <deque>
#include <map>
#include <unordered_map>

namespace crsan::sim {

struct Execution;
struct Instruction;

inline constexpr unsigned WarpSize = 32;
inline constexpr uint32_t AllLanes = ~0u;

/// Where a row lies.
enum class Rows : uint8_t {
  Frame,    ///< Registers of the current function.
  Constant, ///< Of the image.
  Special,  ///< Of the warp: %tid, %laneid, ... (see SpecialRow).
  Shared,   ///< Of the kernel: addresses of shared variables.
};
inline constexpr unsigned NumRows = 4;

struct Ref {
  uint32_t Offset = 0; ///< Bytes.
  Rows In = Rows::Frame;
  uint8_t Size = 0; ///< Bytes a lane; 0: a predicate, or nothing if !IsValid.
  bool IsValid = false;
};

/// First row of each frame: the generic-window offset of the function's local
/// memory, as u64.
inline constexpr uint32_t LocalBaseRow = 0;
inline constexpr uint32_t FirstRegisterRow = WarpSize * 8;

/// Special registers that do not change while a thread lives; each a row of
/// u32, but for the last ones.
enum class SpecialRow : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NWarpId,
  SmId,
  NSmId,
  GridId32,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  ClusterIdX,
  ClusterIdY,
  ClusterIdZ,
  NClusterIdX,
  NClusterIdY,
  NClusterIdZ,
  ClusterCtaIdX,
  ClusterCtaIdY,
  ClusterCtaIdZ,
  ClusterNctaIdX,
  ClusterNctaIdY,
  ClusterNctaIdZ,
  ClusterCtaRank,
  ClusterNctaRank,
  DynamicShared,
  TotalShared,
  EnvReg1,
  EnvReg2,
  Zero,
  WarpSz,
  Count32,
  GridId64 = Count32, ///< u64: two places.
  Count = GridId64 + 2,
};
inline constexpr uint32_t SpecialBytes =
    uint32_t(SpecialRow::Count) * WarpSize * 4;

/// How an instruction went.
enum class Outcome : uint8_t {
  Next,  ///< The fragment goes on with the next instruction.
  Moved, ///< It goes on; the handler has set its place.
  Yield, ///< As Moved, but others may run first.
  Stop,  ///< It waits, is gone, or is another one now.
  Later, ///< Nothing has happened: the instruction waits for its turn.
  Faulted,
};
using Handler = Outcome (*)(Execution &, const Instruction &);

/// The semantics of a memory instruction, a fence or a barrier.
struct Semantics {
  MemoryOrder Order = MemoryOrder::Weak;
  Scope Within = Scope::System;
  bool IsVolatile = false; ///< Then it is relaxed, of system scope.
};

struct CallSite;

/// What an access is by the source, where it is not what the instruction says:
/// compilers touch more than they were told to (Idioms.h), and say so in a
/// pragma or by leaving out elements.
struct Meaning {
  bool IsGuess = false;     ///< It is no access of the source's.
  uint32_t UsedBytes = ~0u; ///< Of those that are accessed: a mask.
  Ref Address;              ///< Row of where the bytes are that are meant ...
  uint8_t Size = 0;         ///< ... and how many; 0: UsedBytes says it all.
  bool MayBeWider = false;  ///< Access::MayBeWider
};

struct Instruction {
  Handler Run = nullptr;
  std::array<Ref, 5> Op;     ///< Result first; what they are is the handler's.
  const Ref *More = nullptr; ///< Elements of vectors.
  uint8_t NumMore = 0;
  bool HasGuard = false, GuardIsNegated = false;
  /// Others may run before it: it may touch memory that they see.
  bool IsVisible = false;
  /// Under a guard that only some lanes pass, those lanes leave the others
  /// first: it moves the program counter or waits.
  bool NeedsWholeFragment = false;
  bool IsHidden = false; ///< From observers (Options::Hidden).
  /// What it means for the control flow of its function.
  enum class Flow : uint8_t {
    Straight,
    Branch,
    Switch,
    Return,
    Exit
  } Flows = Flow::Straight;
  ptx::StateSpace Space = ptx::StateSpace::None;
  Semantics How;
  Ref Guard;
  uint32_t Target = 0;           ///< Of a branch.
  uint32_t Reconverge = Nowhere; ///< Where lanes that part here meet again.
  int32_t Id = -1;               ///< Unique in the machine.
  int64_t Imm = 0;  ///< Offset of an address, or what the handler wants.
  uint64_t Aux = 0; ///< More of that.
  const CallSite *Call = nullptr;
  const Meaning *Means = nullptr;                 ///< Null: what it says.
  const std::vector<uint32_t> *Targets = nullptr; ///< brx.idx

  static constexpr uint32_t Nowhere = ~0u;      ///< They leave or never meet.
  static constexpr uint32_t AtReturn = ~0u - 1; ///< When the function returns.
};

/// A parameter or result, seen from the caller or from the function: a row, or
/// bytes of the frame's local memory.
struct Slot {
  bool IsRow = false;
  bool IsKernelParam = false; ///< Offset is in the launch's parameters.
  Ref Row;
  uint32_t Offset = 0; ///< In the frame's local memory.
  uint32_t Size = 0;
};

struct CallSite {
  int32_t Function = -1; ///< In the image; -1: through Instruction::Op[0].
  std::vector<Slot> Arguments, Results;
};

struct Function {
  std::string Name;
  uint32_t Index = 0;
  bool IsKernel = false;
  bool IsDefined = false;
  const ptx::Function *Tree = nullptr;
  const ptx::Module *Unit = nullptr;
  std::vector<Instruction> Code;
  std::vector<Slot> Parameters, Results;
  uint32_t FrameBytes = FirstRegisterRow; ///< Of rows.
  uint32_t LocalBytes = 0;                ///< Of local memory, multiple of 16.
  std::vector<Ref> Registers;             ///< All rows.
  /// Shared variables and functions that the code names.
  std::vector<uint32_t> UsesShared, Calls;
  bool CallsUnknown = false, TakesAddress = false;
  bool IsHidden = false;     ///< Options::Hidden
  Handler BuiltIn = nullptr; ///< vprintf and the like.
  /// Nonempty: decoding failed for the function as a whole.
  std::string Error;
};

struct SharedVariable {
  std::string Name;
  uint64_t Size = 0;
  uint32_t Align = 1;
  bool IsDynamic = false; ///< extern, of unknown length.
};

/// What is fixed of a kernel when it is launched.
struct Kernel {
  KernelInfo Info;
  std::vector<uint64_t> SharedOffsets; ///< Of each shared variable, or NotUsed.
  static constexpr uint64_t NotUsed = ~uint64_t(0);
  std::vector<uint8_t> SharedRows; ///< Rows::Shared

  /// Rows::Shared of a block that is the so-many-th of its cluster.
  std::vector<uint8_t> sharedRows(uint32_t Rank) const;
};

/// Modules that were linked together.
class Image {
public:
  ModuleId Id = 0;
  std::string Name;
  std::vector<std::shared_ptr<ptx::Module>> Units;
  std::deque<Function> Functions;
  std::deque<SharedVariable> SharedVariables;
  std::unordered_map<std::string_view, Symbol> Symbols; ///< Visible ones.
  std::vector<std::pair<void *, size_t>> Storage;
  std::deque<Kernel> Kernels;
  std::unordered_map<std::string_view, Kernel *> KernelsByName;

  /// The constant row of a value of so many bytes (at most 8).
  Ref constant(uint64_t Value, unsigned Size);
  uint8_t *constants() { return Constants.data(); }

  /// Storage of what instructions point to.
  std::deque<CallSite> Calls;
  std::deque<Meaning> Meanings;
  std::deque<std::vector<uint32_t>> Targets;
  std::deque<std::vector<Ref>> Refs;
  std::deque<std::string> Texts;

private:
  std::vector<uint8_t> Constants;
  std::map<std::pair<uint64_t, unsigned>, uint32_t> Known;
};

/// Rows::Shared: the address of each shared variable, as u64 and as u32.
inline constexpr uint32_t SharedRowStride = WarpSize * 12;

} // namespace crsan::sim

#endif // CRSAN_SIM_PROGRAM_H

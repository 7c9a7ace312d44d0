// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an instruction's handler sees.
#ifndef CRSAN_SIM_EXECUTION_H
#define CRSAN_SIM_EXECUTION_H

#include "Grid.h"

#include <cstring>

namespace crsan::sim {

class Device;

/// The memory that an address refers to.
struct Referent {
  enum class Kind : uint8_t {
    Global,
    Constant,
    Shared,
    Private
  } In = Kind::Private;
  uint8_t *Bytes = nullptr; ///< Null: the access has faulted.
  Block *Owner = nullptr;   ///< Of shared memory.
  uint32_t Offset = 0;      ///< In it.

  abi::Space space() const;         ///< As Access has it, with the address.
  uint64_t reportedAddress() const; ///< Shared memory: a SharedAddress.
};

/// How an instruction touches memory.
struct Touch : AccessTraits {
  uint32_t Size = 0, Align = 0;
  uint8_t Elements = 1;
  /// It is not now that the bytes are touched: a place in global memory is
  /// wanted, not what the multiprocessor has written there.
  bool IsLater = false;
};

/// A fragment that is being run. Mask is what the guard leaves of its lanes.
struct Execution {
  Device &D;
  Fragment *F = nullptr;
  Warp *W = nullptr;
  Block *B = nullptr;
  Grid *G = nullptr;
  uint32_t Mask = 0;
  std::array<uint8_t *, NumRows> Bases{};

  explicit Execution(Device &D) : D(D) {}
  void bind(Fragment *);

  template <class T> T *row(const Ref &R) const {
    return reinterpret_cast<T *>(Bases[size_t(R.In)] + R.Offset);
  }
  /// A predicate: a bit a lane.
  uint32_t &bits(const Ref &R) const { return *row<uint32_t>(R); }
  void setBits(const Ref &R, uint32_t Value) const {
    uint32_t &Word = bits(R);
    Word = (Word & ~Mask) | (Value & Mask);
  }
  /// Zero-extended value of an integer row of any size up to 8.
  uint64_t value(const Ref &R, unsigned Lane) const {
    uint64_t V = 0;
    std::memcpy(&V, Bases[size_t(R.In)] + R.Offset + size_t(R.Size) * Lane,
                R.Size < 8 ? R.Size : 8);
    return V;
  }
  void setValue(const Ref &R, unsigned Lane, uint64_t V) const {
    std::memcpy(Bases[size_t(R.In)] + R.Offset + size_t(R.Size) * Lane, &V,
                R.Size < 8 ? R.Size : 8);
  }

  ThreadRef thread(unsigned Lane) const;
  uint8_t *local(unsigned Lane, uint32_t Offset) const {
    return W->Local.data() + size_t(W->LocalStride) * Lane + Offset;
  }

  /// The bytes at an address in I's state space, or a fault (Bytes is null).
  Referent resolve(const Instruction &I, unsigned Lane, uint64_t Address,
                   const Touch &T);
  Referent resolve(ptx::StateSpace Space, const Instruction &I, unsigned Lane,
                   uint64_t Address, const Touch &T);
  /// Tells the observer of an access, and the shadow of shared memory. False:
  /// faulted.
  bool note(const Instruction &I, unsigned Lane, const Referent &At,
            const Touch &T);
  /// The same to the observer, of an instruction that means something else.
  void noteMeaning(const Instruction &I, unsigned Lane, Access A);
  /// Generic address of a lane, of a base that is u32 or u64.
  uint64_t address(const Instruction &I, const Ref &Base, unsigned Lane) const {
    uint64_t A =
        Base.Size == 8 ? row<uint64_t>(Base)[Lane] : row<uint32_t>(Base)[Lane];
    return A + uint64_t(I.Imm);
  }
  void fence(const Instruction &I);
  /// Whether multiprocessors run side by side and it reaches what they share.
  bool isShared(const Instruction &I, const Ref &Base) const;

  Outcome fault(const Instruction &I, unsigned Lane, Fault::Kind What,
                std::string Message, uint64_t Address = 0);
  /// The program says itself that something is wrong at its line `Where`.
  Outcome failAssertion(const Instruction &I, unsigned Lane,
                        std::string Message, SourceLine Where);

private:
  Fault describe(const Instruction &I, unsigned Lane, Fault::Kind What,
                 std::string Message) const;
  Referent bad(const Instruction &I, unsigned Lane, uint64_t Address,
               const Touch &T, std::string_view Why, bool IsMisaligned = false);
  Referent inShared(const Instruction &I, unsigned Lane, uint64_t Address,
                    const Touch &T);
  Referent inLocal(const Instruction &I, unsigned Lane, uint64_t Address,
                   const Touch &T);
  Referent inParam(const Instruction &I, unsigned Lane, uint64_t Address,
                   const Touch &T);
};

} // namespace crsan::sim

#endif // CRSAN_SIM_EXECUTION_H

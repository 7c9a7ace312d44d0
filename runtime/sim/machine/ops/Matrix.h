// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the matrix instructions have in common.
//
// A fragment is what one lane holds of a matrix: elements in registers, the
// first in the lowest bits of the first register.
//
// Who holds what in fragments of wmma is nobody's business, with two exceptions
// that programs rely on: the accumulator's is the same for all its types, and
// an element that several lanes hold is the same in all. Here lane L holds the
// elements from L * (elements in a fragment) on, modulo the matrix, counted in
// the order of memory; those of accumulators, which have none until they are
// stored, by rows.
#ifndef CRSAN_SIM_OPS_MATRIX_H
#define CRSAN_SIM_OPS_MATRIX_H

#include "ops/Collectives.h"

#include <cstdio>

namespace crsan::sim {

struct MatrixShape {
  unsigned M = 0, N = 0, K = 0;
};

/// "m16n8k16"; K is 0 if it is not said.
inline MatrixShape parseMatrixShape(std::string_view Text) {
  MatrixShape S;
  if (std::sscanf(std::string(Text).c_str(), "m%un%uk%u", &S.M, &S.N, &S.K) < 2)
    return {};
  return S;
}

/// The registers of {a, b, ...}, or of a alone.
inline std::vector<Ref> takeRegisters(Decoder &D, const ptx::Operand &O,
                                      unsigned Size, bool AreResults) {
  std::vector<Ref> Rows;
  auto Add = [&](const ptx::Operand &E) {
    Rows.push_back(AreResults ? D.dest(E, Size) : D.source(E, Size));
  };
  if (O.What != ptx::Operand::Kind::Vector)
    Add(O);
  else
    for (const ptx::Operand &E : O.Elements)
      Add(E);
  return Rows;
}

/// Bits of an element of Size bytes in a lane's fragment.
inline uint64_t fragmentElement(const Execution &X, const Ref *Registers,
                                unsigned Lane, unsigned Index, unsigned Size) {
  unsigned Per = Registers->Size / Size;
  uint64_t V = X.value(Registers[Index / Per], Lane);
  return V >> 8 * Size * (Index % Per) & ~uint64_t(0) >> (64 - 8 * Size);
}

inline void setFragmentElement(const Execution &X, const Ref *Registers,
                               unsigned Lane, unsigned Index, unsigned Size,
                               uint64_t V) {
  const Ref &R = Registers[Index / (Registers->Size / Size)];
  std::memcpy(X.row<uint8_t>(R) + R.Size * Lane +
                  Index % (R.Size / Size) * Size,
              &V, Size);
}

} // namespace crsan::sim

#endif // CRSAN_SIM_OPS_MATRIX_H

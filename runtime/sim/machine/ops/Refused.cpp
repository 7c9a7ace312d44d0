//===- Refused.cpp - Instructions that are known and not executed; the table
//===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Decoder.h"

using namespace crsan::sim;

static bool texture(Decoder &D) {
  return D.fail("textures and surfaces are not supported by the simulated GPU");
}
static bool wgmma(Decoder &D) {
  return D.fail(
      "warpgroup matrix operations are not supported by the simulated GPU");
}
static bool tensorMemory(Decoder &D) {
  return D.fail("tensor memory is not supported by the simulated GPU");
}

void crsan::sim::addRefusedOps(DecodeTable &T) {
  T.add({"tex", "tld4", "txq", "suld", "sust", "sured", "suq", "istypep"},
        texture);
  T.add("wgmma", wgmma);
  T.add("tcgen05", tensorMemory);
}

const DecodeTable &DecodeTable::get() {
  static const DecodeTable Table = [] {
    DecodeTable T;
    // Of one opcode, what fits more narrowly comes first.
    for (auto *Add :
         {addIntegerOps,    addLogicOps,   addFloatOps,      addConvertOps,
          addCompareOps,    addMoveOps,    addAsyncStoreOps, addMemoryOps,
          addAddressOps,    addControlOps, addCallOps,       addAtomicOps,
          addCollectiveOps, addBarrierOps, addClusterOps,    addMBarrierOps,
          addAsyncOps,      addBulkOps,    addTensorOps,     addMatrixOps,
          addMatrixMoveOps, addRefusedOps})
      Add(T);
    return T;
  }();
  return Table;
}

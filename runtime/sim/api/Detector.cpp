//===- Detector.cpp - detector=oracle, if it was built --------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Detector.h"

namespace crsan::api {

std::unique_ptr<OracleDetector> makeOracle(Process &, const Flags &) {
  return nullptr;
}

} // namespace crsan::api

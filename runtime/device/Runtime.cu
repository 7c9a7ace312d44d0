//===- Runtime.cu - What an instrumented kernel calls ----------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled once to bitcode for sm_70, embedded in the pass plugin and linked
// into every instrumented module with internal linkage. Everything here runs in
// the slow path of a sampled window; the pass itself emits the fast path (is
// this window sampled?). Where ptxas assembles a module as a whole, it compiles
// these functions anew for every kernel, so each is small, and its loops stay
// loops.
//
// Why a check may precede the access (docs/soundness.md): between the check and
// the access there is no synchronisation and no way round, so a write of
// another thread that is seen to happen here is ordered neither before nor
// after the access that follows.
//
//===----------------------------------------------------------------------===//

#include "collider/BlockShuffle.h"

#include "metadata/Barriers.h"
#include "metadata/Objects.h"

#include "metadata/CopyGroups.h"

#include "metadata/Calls.h"

#include "collider/Check.h"

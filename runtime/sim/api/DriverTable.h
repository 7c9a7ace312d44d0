//===- DriverTable.h - The driver that the session sees ---------*- C++ -*-===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef CRSAN_SIM_DRIVERTABLE_H
#define CRSAN_SIM_DRIVERTABLE_H

namespace crsan::api {

class Process;

/// Fills theDriver() with functions over the machines of the process, so that
/// the session (runtime/inject) works as on hardware. A CUcontext is a Device,
/// a CUlibrary an image.
void fillDriverTable(Process &P);

} // namespace crsan::api

#endif // CRSAN_SIM_DRIVERTABLE_H

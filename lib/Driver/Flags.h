// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The flags that CRSan adds to a command.
#ifndef CRSAN_DRIVER_FLAGS_H
#define CRSAN_DRIVER_FLAGS_H

#include "Command.h"

namespace crsan::driver {

/// The flags of a compilation of a \p Kind of source, before the user's own.
Words compileFlags(const Command &C, InputKind Kind);

/// The folders of headers, after the user's own, so that a newer CCCL of the
/// user's comes first.
Words includeFlags(const Command &C, InputKind Kind);

/// The flags by which clang links device code, before the user's own.
Words deviceLinkFlags(const Command &C);

/// The library by which kernels launch kernels, for the linker of device code,
/// which takes of it what is needed.
Words deviceRuntimeFlags(const Command &C);

/// The libraries of a link, after the user's own.
Words libraryFlags(const Command &C);

/// Appends flags of CRSan's. Clang does not warn if one of them is not needed
/// (PTX in a preprocessed file), because the user did not write it.
void appendQuietly(Words &Out, const Words &Flags);

/// What nvcc's users need not care for: in which order libraries stand.
Words inGroup(const Command &C, const Words &Linked);

/// Appends an argument of the user's.
void append(Words &Out, const Command &C, const Argument &A);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_FLAGS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What numbers of registers mean to a multiprocessor of 65,536 registers, as
// all have that PTX can be compiled for.
#ifndef CRSAN_PTX_REGISTERLIMITS_H
#define CRSAN_PTX_REGISTERLIMITS_H

namespace crsan::ptx {

/// With so many registers a thread, a multiprocessor holds all the threads it
/// can.
inline constexpr unsigned FullResidency = 32;
/// With so many registers a thread, a block can have 1,024 threads, as a kernel
/// without launch bounds may be launched.
inline constexpr unsigned LargestBlock = 64;
/// No thread can use more.
inline constexpr unsigned MostRegisters = 255;

} // namespace crsan::ptx

#endif // CRSAN_PTX_REGISTERLIMITS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is fixed of a kernel when it is linked.
#ifndef CRSAN_SIM_KERNELS_H
#define CRSAN_SIM_KERNELS_H

namespace crsan::sim {

class Image;
struct Function;

/// Adds the kernel `F` to its image: its parameters and limits, and where its
/// shared variables are. All functions of the image are decoded.
void addKernel(Image &To, const Function &F);

} // namespace crsan::sim

#endif // CRSAN_SIM_KERNELS_H

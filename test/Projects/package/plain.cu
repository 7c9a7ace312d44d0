// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
__global__ void twice(int *Cell) { *Cell *= 2; }

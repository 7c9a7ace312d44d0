// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registration of a kernel, wrapped as Launch.c has it.

#include "EarlyLoad.h"

// As compilers declare it.
void __real___cudaRegisterFunction(void **Module, const char *Stub, char *Name,
                                   const char *MangledName, int ThreadLimit,
                                   void *ThreadIndex, void *BlockIndex,
                                   void *BlockSize, void *GridSize,
                                   int *WarpSize);
void __wrap___cudaRegisterFunction(void **Module, const char *Stub, char *Name,
                                   const char *MangledName, int ThreadLimit,
                                   void *ThreadIndex, void *BlockIndex,
                                   void *BlockSize, void *GridSize,
                                   int *WarpSize) {
  __real___cudaRegisterFunction(Module, Stub, Name, MangledName, ThreadLimit,
                                ThreadIndex, BlockIndex, BlockSize, GridSize,
                                WarpSize);
  crsanKernelRegistered(Stub, MangledName);
}

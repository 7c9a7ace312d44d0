// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The registration of a variable, wrapped as Launch.c has it.
//
// Compiled once for each function, CRSAN_REGISTER.

#include "EarlyLoad.h"

#define JOIN_(A, B) A##B
#define JOIN(A, B) JOIN_(A, B)
#define REAL JOIN(__real_, CRSAN_REGISTER)
#define WRAP JOIN(__wrap_, CRSAN_REGISTER)

// As compilers declare __cudaRegisterVar and __cudaRegisterManagedVar.
void REAL(void **Module, void *Host, char *Device, const char *Name,
          int IsExternal, size_t Bytes, int IsConstant, int IsGlobal);
void WRAP(void **Module, void *Host, char *Device, const char *Name,
          int IsExternal, size_t Bytes, int IsConstant, int IsGlobal) {
  REAL(Module, Host, Device, Name, IsExternal, Bytes, IsConstant, IsGlobal);
  crsanVariableRegistered(Bytes);
}

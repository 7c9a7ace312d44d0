// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host code that is instrumented.

#include "FakeHostCode.h"

int readNumber(const int *From) { return *From; }
void writeNumber(int *To, int Value) { *To = Value; }

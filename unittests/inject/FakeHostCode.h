// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host code that is instrumented.
#ifndef CRSAN_UNITTESTS_INJECT_FAKEHOSTCODE_H
#define CRSAN_UNITTESTS_INJECT_FAKEHOSTCODE_H

int readNumber(const int *From);
void writeNumber(int *To, int Value);

#endif // CRSAN_UNITTESTS_INJECT_FAKEHOSTCODE_H

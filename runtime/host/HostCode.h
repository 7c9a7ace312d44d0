// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host code that is instrumented.
#ifndef CRSAN_HOST_HOSTCODE_H
#define CRSAN_HOST_HOSTCODE_H

#pragma GCC visibility push(hidden)
/// Tells CRSan of the host code of this executable or library, if it has some
/// that is instrumented. `File`: libcrsan.so; null: there is none.
void crsanTellHostCode(const char *File);
#pragma GCC visibility pop

#endif // CRSAN_HOST_HOSTCODE_H

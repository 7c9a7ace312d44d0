// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Why CUDA never loaded CRSan.
#ifndef CRSAN_HOST_DRIVERSTATE_H
#define CRSAN_HOST_DRIVERSTATE_H

#include <stddef.h>

#pragma GCC visibility push(hidden)
/// Writes why the driver did not load the injection library in this process,
/// which ends: one line with the remedy. The driver may be loaded and asked.
void crsanDescribeDriver(char *Text, size_t Size);
#pragma GCC visibility pop

#endif // CRSAN_HOST_DRIVERSTATE_H

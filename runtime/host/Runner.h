// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that crsan run has started, directly or through others.
#ifndef CRSAN_HOST_RUNNER_H
#define CRSAN_HOST_RUNNER_H

#pragma GCC visibility push(hidden)

/// Once in a process, before main: says if crsan run will not learn what this
/// process finds, and leaves it word. `IsSimulated`: the process is on the
/// simulated GPU.
void crsanCheckRunner(int IsSimulated);

/// Leaves crsan run word that nothing was checked in this process, and why, if
/// it has started the program.
void crsanTellRunner(const char *Why);

#pragma GCC visibility pop

#endif // CRSAN_HOST_RUNNER_H

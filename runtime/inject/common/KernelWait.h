// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the program that wait for kernels.
#ifndef CRSAN_INJECT_COMMON_KERNELWAIT_H
#define CRSAN_INJECT_COMMON_KERNELWAIT_H

#include <chrono>

namespace crsan {

/// A thread of the program waits for kernels while it has one of these. Of
/// several in one thread, the outermost one counts.
class KernelWait {
public:
  KernelWait() { begin(); }
  ~KernelWait() { end(); }
  KernelWait(const KernelWait &) = delete;
  KernelWait &operator=(const KernelWait &) = delete;

  /// For calls of which the beginning and the end are told apart.
  static void begin();
  static void end();

  /// How long a thread has been waiting by now, of all threads the longest.
  /// Takes no lock. Threads beyond the first 256 are left out.
  static std::chrono::nanoseconds longest();
};

} // namespace crsan

#endif // CRSAN_INJECT_COMMON_KERNELWAIT_H

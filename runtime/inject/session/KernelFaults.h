// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that failed.
#ifndef CRSAN_INJECT_SESSION_KERNELFAULTS_H
#define CRSAN_INJECT_SESSION_KERNELFAULTS_H

#include "Report/Finding.h"

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace crsan {

struct ReportFile;

/// "invalid address": what a sticky error of the driver (a CUresult) says of
/// the kernel.
const char *faultOf(int Result);

/// The faults of the process. A run adds them to what it has recorded, whatever
/// looks for races.
class KernelFaults {
public:
  /// As far as it is known, `O` has the thread, the address, the shape of the
  /// launch, what happened and its particulars; `Site` the kernel and the
  /// lines. `LaunchedAt`: as Occurrence's, asked for when the fault is
  /// reported.
  void add(Occurrence O, SiteInfo Site,
           std::function<std::string()> LaunchedAt = nullptr);

  size_t count() const;

  /// Adds the faults to the records of one run.
  void addTo(ReportFile &File) const;

private:
  struct Entry {
    Occurrence O;
    SiteInfo Site;
    std::function<std::string()> LaunchedAt;
  };

  /// A thread that a signal has ended may hold it.
  mutable std::timed_mutex Lock;
  std::vector<Entry> Entries;
};

/// The process's. Never destroyed.
KernelFaults &kernelFaults();

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_KERNELFAULTS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that failed.

#include "session/KernelFaults.h"

#include "Report/ReportFile.h"
#include "common/Driver.h"

#include <fmt/format.h>

#include <chrono>
#include <iterator>
#include <utility>

namespace crsan {

using namespace std::chrono_literals;

KernelFaults &kernelFaults() {
  static auto *TheFaults = new KernelFaults;
  return *TheFaults;
}

const char *faultOf(int Result) {
  switch (Result) {
  case CUDA_ERROR_ILLEGAL_ADDRESS:
    return "invalid address";
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    return "invalid address space";
  case CUDA_ERROR_MISALIGNED_ADDRESS:
    return "misaligned address";
  case CUDA_ERROR_ASSERT:
    return "assertion failure";
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    return "illegal instruction";
  case CUDA_ERROR_INVALID_PC:
    return "invalid program counter";
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
    return "stack overflow";
  case CUDA_ERROR_LAUNCH_TIMEOUT:
    return "time limit";
  case CUDA_ERROR_ECC_UNCORRECTABLE:
    return "memory error of the GPU";
  default:
    return "launch failure";
  }
}

/// The same for one place, in every process.
static uint64_t idOf(const SiteInfo &Site) {
  std::string Text = Site.Kernel;
  for (const SourceFrame &F : Site.Frames)
    fmt::format_to(std::back_inserter(Text), "|{}:{}:{}:{}", F.Function, F.File,
                   F.Line, F.Column);
  uint64_t Hash = 0xcbf29ce484222325;
  for (const char C : Text)
    Hash = (Hash ^ uint8_t(C)) * 0x100000001b3;
  return Hash | 1;
}

void KernelFaults::add(Occurrence O, SiteInfo Site,
                       std::function<std::string()> LaunchedAt) {
  Site.IsFault = true;
  Site.Id = idOf(Site);
  O.Rec.Kind = KernelFault;
  O.Rec.Site = Site.Id;
  O.Count = 1;
  std::unique_lock Guard(Lock, 1s);
  Entries.push_back({std::move(O), std::move(Site), std::move(LaunchedAt)});
}

size_t KernelFaults::count() const {
  std::unique_lock Guard(Lock, 1s);
  return Entries.size();
}

void KernelFaults::addTo(ReportFile &File) const {
  std::unique_lock Guard(Lock, 1s);
  for (const Entry &E : Entries) {
    File.Sites.add(E.Site);
    File.Occurrences.push_back(E.O);
    if (E.LaunchedAt)
      File.Occurrences.back().LaunchedAt = E.LaunchedAt();
  }
}

} // namespace crsan

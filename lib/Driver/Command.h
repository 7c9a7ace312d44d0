// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of a command.
#ifndef CRSAN_DRIVER_COMMAND_H
#define CRSAN_DRIVER_COMMAND_H

#include "CommandLine.h"
#include "CudaToolkit.h"
#include "Installation.h"
#include "NvccCommand.h"
#include "RaceOptions.h"

namespace crsan::driver {

using Words = std::vector<std::string>;

/// A command of the user's with the sanitizer on, or one written for nvcc, and
/// the parts of the installation and of the toolkit that serve it.
struct Command {
  const CommandLine &Line;
  const RaceOptions &Options;
  const Installation &Where;
  const NvccCommand *Nvcc = nullptr; ///< None: written for clang.
  const Phase Final = Line.phase();
  /// None only if the command neither compiles CUDA nor links.
  std::optional<CudaToolkit> Toolkit = std::nullopt;
  bool NamesArchitecture = false;
  /// The device code of the objects that are linked has been linked (-dlink).
  bool IsDeviceLinked = false;

  bool compilesCuda() const { return Line.hasInput(InputKind::Cuda); }
  bool compilesHost() const { return Line.hasInput(InputKind::Host); }
  /// Whether the command makes an executable or a shared library.
  bool links() const {
    return Final == Phase::Link && Line.hasAnyInput() &&
           !Line.has(options::OPT_r) &&
           !Line.has(options::OPT_offload_device_only);
  }
  /// Whether an argument of the user's has no place in a job that compiles a
  /// source of \p Kind (Linker: none): with -fopenmp, an architecture would
  /// mean that OpenMP uses the GPU; and C has none of C++'s standards.
  bool isForOtherJobs(const Argument &A, InputKind Kind, bool IsC) const {
    return Nvcc && ((Kind != InputKind::Cuda &&
                     A.matches(options::OPT_offload_arch_EQ)) ||
                    (IsC && A.matches(options::OPT_std_EQ) &&
                     llvm::StringRef(A.Values.front()).contains("++")));
  }
  /// Whether the link links device code, too.
  bool linksDeviceCode() const {
    return !IsDeviceLinked && (!Nvcc || Nvcc->LinksDeviceCode);
  }
  bool isDryRun() const { return Line.has(options::OPT__HASH_HASH_HASH); }
  bool isRelocatable() const { return Line.has(options::OPT_fgpu_rdc); }
  bool namesToolkit() const {
    return Line.last(options::OPT_cuda_path_EQ).has_value();
  }
};

} // namespace crsan::driver

#endif // CRSAN_DRIVER_COMMAND_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of a command.
#ifndef CRSAN_DRIVER_COMMAND_H
#define CRSAN_DRIVER_COMMAND_H

#include "CommandLine.h"
#include "CudaToolkit.h"
#include "Installation.h"
#include "RaceOptions.h"

namespace crsan::driver {

using Words = std::vector<std::string>;

/// A command of the user's with the sanitizer on, and the parts of the
/// installation and of the toolkit that serve it.
struct Command {
  const CommandLine &Line;
  const RaceOptions &Options;
  const Installation &Where;
  const Phase Final = Line.phase();
  /// None only if the command neither compiles CUDA nor links.
  std::optional<CudaToolkit> Toolkit = std::nullopt;
  bool NamesArchitecture = false;

  bool compilesCuda() const { return Line.hasInput(InputKind::Cuda); }
  bool compilesHost() const { return Line.hasInput(InputKind::Host); }
  /// Whether the command makes an executable or a shared library.
  bool links() const {
    return Final == Phase::Link && Line.hasAnyInput() &&
           !Line.has(options::OPT_r) &&
           !Line.has(options::OPT_offload_device_only);
  }
  bool isDryRun() const { return Line.has(options::OPT__HASH_HASH_HASH); }
  bool isRelocatable() const { return Line.has(options::OPT_fgpu_rdc); }
  bool namesToolkit() const {
    return Line.last(options::OPT_cuda_path_EQ).has_value();
  }
};

} // namespace crsan::driver

#endif // CRSAN_DRIVER_COMMAND_H

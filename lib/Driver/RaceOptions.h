// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The options that are CRSan's own.
#ifndef CRSAN_DRIVER_RACEOPTIONS_H
#define CRSAN_DRIVER_RACEOPTIONS_H

#include "CommandLine.h"

#include "llvm/Support/Error.h"

namespace crsan::driver {

/// What `-fsanitize=cuda-race` and its companions ask for.
struct RaceOptions {
  bool Enabled = false;
  /// -fno-sanitize-recover=cuda-race: the first race ends the program.
  bool HaltOnError = false;
  /// Force-include crsan/cuda_compat.h
  /// (-f[no-]sanitize-cuda-race-compat-header).
  bool CompatHeader = true;
  /// Host code is instrumented, too (-f[no-]sanitize-cuda-race-host).
  bool Host = false;
  /// How races are looked for: collider, metadata or hybrid
  /// (-fsanitize-cuda-race-mode=).
  std::string Mode = "collider";
  std::vector<std::string> IgnoreLists;
  /// Options of the pass that the user gave as `-mllvm -crsan-...`.
  std::vector<std::string> PassOptions;
  /// nvcc's choice of run-time library: shared (here the default, since the
  /// simulated GPU can take the place of no other), static or none.
  std::string CudaRuntime = "shared";
  /// Whether the line has an option of CRSan's, enabled in the end or not.
  bool Mentioned = false;

  /// Takes CRSan's options out of \p Line: clang's are left. A link of code
  /// that was compiled with the sanitizer is one with the sanitizer, unless
  /// the line says otherwise.
  /// In a command written for nvcc, \p ForNvcc, --cudart= counts in any case.
  static llvm::Expected<RaceOptions> extract(CommandLine &Line,
                                             bool ForNvcc = false);
};

} // namespace crsan::driver

#endif // CRSAN_DRIVER_RACEOPTIONS_H

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What crsan doctor says of a machine.
#ifndef CRSAN_TOOLS_CRSAN_DIAGNOSIS_H
#define CRSAN_TOOLS_CRSAN_DIAGNOSIS_H

#include <string>
#include <string_view>
#include <vector>

namespace crsan {

/// One line for each thing that was looked at, printed at once.
class Diagnosis {
public:
  void ok(std::string_view Subject, std::string_view Text);
  /// The thing is there, but may stand in the way.
  void warning(std::string_view Subject, std::string_view Text,
               std::string_view Remedy);
  void missing(std::string_view Subject, std::string_view Text,
               std::string_view Remedy);
  /// The text has the remedy already.
  void missing(std::string_view Subject, std::string_view Text);

  /// A device on which programs can be checked.
  void addDevice(std::string Name) { Devices.push_back(std::move(Name)); }

  std::vector<std::string> Devices;
};

/// The driver, its GPUs, CUPTI, and what keeps CRSan from using them. \p
/// Library is libcrsan.so, which the driver loads.
void diagnoseGPU(Diagnosis &D, const std::string &Library);

/// The CUDA runtime library that is the simulated GPU.
void diagnoseSimulatedGPU(Diagnosis &D, const std::string &Library);

} // namespace crsan

#endif // CRSAN_TOOLS_CRSAN_DIAGNOSIS_H

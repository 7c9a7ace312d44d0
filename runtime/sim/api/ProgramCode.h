// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX in what a program registers.
//
// Where the PTX of a program may be:
//   * in the fat binary, plain or compressed (clang, nvcc);
//   * with nvcc's -rdc=true, in the fat binaries that were linked;
//   * with clang's -fgpu-rdc, where the device linker keeps machine code only,
//     in objects that crsan-ptxas put into the machine code (abi::PTXPrefix).
#ifndef CRSAN_SIM_PROGRAMCODE_H
#define CRSAN_SIM_PROGRAMCODE_H

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crsan::api {

/// The architecture that the simulated GPU says it is.
inline constexpr unsigned Architecture = 90;

/// PTX texts that belong together, from what __cudaRegisterFatBinary or
/// cudaLibraryLoadData is given: a (wrapped) fat binary, machine code, or PTX.
/// Of several architectures, the best that the simulated GPU could run. Or why
/// there is none, in one line with the remedy.
std::variant<std::vector<std::string>, std::string> findPTX(const void *Code);

/// Whether the machine code of a (wrapped) fat binary has functions: nvcc's
/// device linker leaves an image without any in every program.
bool hasMachineFunctions(const void *Code);

/// The architecture that a PTX text is for: 75 of `.target sm_75`. 0: not said.
unsigned targetOf(std::string_view PTX);

/// A function that a PTX text defines.
struct DefinedFunction {
  std::string_view Name;
  bool IsKernel = false;
};
std::vector<DefinedFunction> definedFunctions(std::string_view PTX);

/// Every word in the text that starts with Prefix, once.
std::vector<std::string_view> wordsWithPrefix(std::string_view PTX,
                                              std::string_view Prefix);

} // namespace crsan::api

#endif // CRSAN_SIM_PROGRAMCODE_H

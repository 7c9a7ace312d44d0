// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The PTX in what a program loads.
//
// Where the PTX of a program may be:
//   * in the fat binary, plain or compressed (clang, nvcc);
//   * with nvcc's -rdc=true, in the fat binaries that were linked;
//   * with clang's -fgpu-rdc, where the device linker keeps machine code only,
//     in objects that crsan-ptxas put into the machine code (abi::PTXPrefix).
#ifndef CRSAN_INJECT_IMAGE_PROGRAMCODE_H
#define CRSAN_INJECT_IMAGE_PROGRAMCODE_H

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace crsan {

/// PTX texts that belong together, from what __cudaRegisterFatBinary,
/// cuLibraryLoadData or cuModuleLoadData is given: a (wrapped) fat binary,
/// machine code, or PTX. Of several architectures, the best for a GPU of the
/// architecture (90 for sm_90): the newest that it can run; failing that, the
/// oldest that it cannot. Or why there is none, in one line with the remedy.
std::variant<std::vector<std::string>, std::string>
findPTX(const void *Code, unsigned Architecture);

/// Whether these texts are relocatable modules, which are to be linked.
bool isRelocatable(const void *Code);

/// What PTX is for: sm_90, or sm_90a, which is another architecture.
struct Target {
  unsigned Number = 0; ///< 0: not known.
  char Suffix = 0;     ///< 'a' or 'f'; 0: none.

  std::string digits() const; ///< "90a"
  std::string text() const { return "sm_" + digits(); }
  bool operator==(const Target &) const = default;
};

/// What a PTX text says that it is for.
Target targetIn(std::string_view PTX);

/// What a cubin says of its making.
struct CubinOrigin {
  Target Virtual;                   ///< What the PTX was for.
  std::vector<std::string> Options; ///< Of ptxas, as it writes them.
};

/// The origin of the machine code that the driver takes for a GPU of the
/// architecture; none if the driver compiles PTX, or the code cannot be read.
std::optional<CubinOrigin> originOfMachineCode(const void *Code,
                                               unsigned Architecture);

/// The names of the kernels of that machine code.
std::vector<std::string> kernelsOfMachineCode(const void *Code,
                                              unsigned Architecture);

/// Whether there is such machine code, with functions: nvcc's device linker
/// leaves an image without any in every program.
bool canRun(const void *Code, unsigned Architecture);

/// Whether the code has checks: what a GPU of the architecture would run, or
/// the PTX for it, has CRSan's configuration.
bool hasChecks(const void *Code, unsigned Architecture);

/// A function that a PTX text defines.
struct DefinedFunction {
  std::string_view Name;
  bool IsKernel = false;
};
std::vector<DefinedFunction> definedFunctions(std::string_view PTX);

/// Every word in the text that starts with Prefix, once.
std::vector<std::string_view> wordsWithPrefix(std::string_view PTX,
                                              std::string_view Prefix);

} // namespace crsan

#endif // CRSAN_INJECT_IMAGE_PROGRAMCODE_H

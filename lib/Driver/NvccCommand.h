// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A command that is written for nvcc, in clang's words.
#ifndef CRSAN_DRIVER_NVCCCOMMAND_H
#define CRSAN_DRIVER_NVCCCOMMAND_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace crsan::driver {

/// What a command for nvcc asks of CRSan's driver.
struct NvccCommand {
  /// What the command makes, if not what its words make of clang.
  enum class Product { Usual, DeviceLink, Fatbin, Library, Listing };

  std::vector<std::string> Words; ///< Clang's and CRSan's.
  Product Makes = Product::Usual;
  bool Runs = false; ///< -run: the program runs after the link.
  std::vector<std::string> RunArguments;
  std::string Archiver = "ar";
  std::string Listing;            ///< For stdout.
  bool LinksDeviceCode = true;    ///< Not with -nodlink.
  bool HasDeviceRuntime = true;   ///< Not with -cudadevrt none.
  std::vector<std::string> Notes; ///< What became of each option.

  static llvm::Expected<NvccCommand> read(llvm::ArrayRef<std::string> Words);
};

} // namespace crsan::driver

#endif // CRSAN_DRIVER_NVCCCOMMAND_H

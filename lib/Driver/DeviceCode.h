// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device code of what is linked.
//
// clang-linker-wrapper, which links relocatable device code, takes a member of
// an archive only if some object beside the archive has device code of the same
// architecture. A program whose kernels are all in static libraries therefore
// links without an error, and each of its launches fails. The linker wrapper
// has an option that names architectures which it takes from archives in any
// case.
#ifndef CRSAN_DRIVER_DEVICECODE_H
#define CRSAN_DRIVER_DEVICECODE_H

#include "CommandLine.h"

#include <set>
#include <string>
#include <vector>

namespace crsan::driver {

/// What clang-linker-wrapper has to be told of the archives of a link.
struct ArchivedDeviceCode {
  /// The architectures that it would leave out of the program.
  std::vector<std::string> Architectures;
  /// A line for each archive whose device code cannot be linked with that of
  /// the objects.
  std::vector<std::string> Warnings;
};

/// \p LibraryDirs are searched for libraries behind those that \p Line names.
ArchivedDeviceCode
findArchivedDeviceCode(const CommandLine &Line,
                       const std::vector<std::string> &LibraryDirs);

/// The first file with relocatable device code that clang, run with \p Line,
/// links without it; empty if there is none.
std::string findUnlinkedDeviceCode(const CommandLine &Line);

/// What the objects that -dlink made (NvccSteps.h) mean for a link.
struct DeviceLinkedCode {
  bool IsPresent = false;           ///< There is such an object.
  std::vector<std::string> Missing; ///< Files whose device code none has.
};
DeviceLinkedCode findDeviceLinkedCode(const CommandLine &Line);

/// The device code of the inputs of a command.
struct DeviceCodeFiles {
  std::vector<std::string> Objects, Archives; ///< Those with device code.
  std::vector<std::string> Architectures;
  std::set<std::string> Marks; ///< Symbols by which a link finds that it is in.
};
DeviceCodeFiles findDeviceCode(const CommandLine &Line);

/// Whether the command links an object or a member of an archive that was
/// compiled with -fsanitize=cuda-race (include/crsan/instrumented.h; host code:
/// include/crsan/abi/Host.h), and no relocatable device code, which need not be
/// complete in this link, unless -dlink has linked it or the command
/// \p LinksDeviceCode.
bool linksInstrumentedCode(const CommandLine &Line,
                           bool LinksDeviceCode = false);

/// Whether the command links what commands for nvcc compiled
/// (include/crsan/from_nvcc.h).
bool linksObjectsOfNvcc(const CommandLine &Line);

} // namespace crsan::driver

#endif // CRSAN_DRIVER_DEVICECODE_H

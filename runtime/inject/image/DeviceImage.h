// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An instrumented image of a cubin.
#ifndef CRSAN_INJECT_IMAGE_DEVICEIMAGE_H
#define CRSAN_INJECT_IMAGE_DEVICEIMAGE_H

#include "Report/SiteTable.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Names.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace crsan {

/// One translation unit of an image: with relocatable device code an image has
/// several.
struct DeviceUnit {
  ModuleInfo Info;
  std::string Suffix; ///< Of the unit's symbols: 16 hexadecimal digits.

  std::string tableName() const { return abi::TablePrefix + Suffix; }
  std::string sitesName() const { return abi::SitesPrefix + Suffix; }
  std::string windowsName() const { return abi::WindowsPrefix + Suffix; }
  std::string accessesName() const { return abi::AccessesPrefix + Suffix; }
  std::string sharedUsesName() const { return abi::SharedUsesPrefix + Suffix; }
};

/// A named object of device code: all that is read of an image, whether it is a
/// cubin or the PTX that the simulated GPU has loaded. A view.
struct ImageObject {
  std::string_view Name;
  bool IsFunction = false; ///< Kernels too.
  bool IsKernel = false;
  /// The initial bytes of a variable, or why there are none.
  std::variant<std::span<const uint8_t>, std::string> Bytes;
};

/// Variables of an image that lie together in memory: the address of any of the
/// symbols tells where.
struct VariableBlock {
  uint64_t Size = 0;
  bool IsManaged = false;
  std::vector<std::pair<std::string, uint64_t>> Symbols; ///< And their offsets.
};

/// An image that holds instrumented code: its units, and its variables.
struct DeviceImage {
  uint64_t Hash = 0; ///< Of the tables: equal images are kept once.
  std::vector<DeviceUnit> Units;
  std::vector<VariableBlock> Variables; ///< Known of cubins only.
  /// Why the image must not be switched on, in one line; empty: it may.
  std::string Problem;
  /// The order of blocks may be changed: no unit objects, and the pass saw
  /// every kernel, so that all of them number blocks in the same way.
  bool MayShuffle = true;
  /// Kernels may call functions that wait for something that others do, or of
  /// which that is not known. Otherwise their units tell which kernels wait.
  bool MayWait = false;

  /// Whether a unit was compiled for metadata mode.
  bool hasMetadata() const { return has(abi::HasMetadata); }
  /// Whether one of its units has the flag.
  bool has(abi::ModuleFlags Flag) const;
};

/// Null if no object is a site table: the image is not instrumented. Sites of
/// healthy tables are added to Sites.
std::unique_ptr<DeviceImage>
readDeviceImage(std::span<const ImageObject> Objects, SiteTable &Sites);

/// The same, of a cubin.
std::unique_ptr<DeviceImage> readDeviceImage(std::span<const uint8_t> Cubin,
                                             SiteTable &Sites);

} // namespace crsan

#endif // CRSAN_INJECT_IMAGE_DEVICEIMAGE_H

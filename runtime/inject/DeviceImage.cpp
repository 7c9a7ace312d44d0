//===- DeviceImage.cpp - An instrumented image, from its cubin ------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceImage.h"

#include "CubinImage.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace crsan {

static uint64_t hashBytes(uint64_t Hash, std::span<const uint8_t> Bytes) {
  for (uint8_t Byte : Bytes)
    Hash = (Hash ^ Byte) * 0x100000001b3ull;
  return Hash;
}

static std::span<const uint8_t> bytesOf(std::string_view Text) {
  return {reinterpret_cast<const uint8_t *>(Text.data()), Text.size()};
}

/// Adds the unit whose table is the symbol; says what is wrong with it.
static std::string addUnit(DeviceImage &Image, const CubinImage &Cubin,
                           const CubinImage::Symbol &Symbol, SiteTable &Sites) {
  // The name is kept in any case: it ties the image to the handle.
  DeviceUnit &Unit = Image.Units.emplace_back();
  Unit.Suffix = Symbol.Name.substr(sizeof(abi::TablePrefix) - 1);
  auto Bytes = Cubin.bytesOf(Symbol);
  if (const auto *Error = std::get_if<std::string>(&Bytes))
    return fmt::format("the image of an instrumented module is damaged: {}; "
                       "rebuild the program",
                       *Error);
  auto Table = std::get<std::span<const uint8_t>>(Bytes);
  Image.Hash = hashBytes(Image.Hash, Table);
  auto Info = Sites.add(Table);
  if (const auto *Error = std::get_if<TableError>(&Info))
    return Error->Message;
  Unit.Info = std::move(std::get<ModuleInfo>(Info));
  return {};
}

/// Every function of the image has to agree on the block index, so none may
/// have been compiled without CRSan. ptxas calls its copy for one kernel
/// `$kernel$function`.
static bool mayShuffle(const DeviceImage &Image, const CubinImage &Cubin) {
  std::unordered_set<std::string_view> Known;
  for (const DeviceUnit &Unit : Image.Units) {
    if (Unit.Info.Flags & abi::NoShuffle)
      return false;
    Known.insert(Unit.Info.Functions.begin(), Unit.Info.Functions.end());
  }
  return std::all_of(Cubin.symbols().begin(), Cubin.symbols().end(),
                     [&](const CubinImage::Symbol &Symbol) {
                       std::string_view Name = Symbol.Name;
                       return !Symbol.IsFunction || Known.contains(Name) ||
                              Known.contains(Name.substr(Name.rfind('$') + 1));
                     });
}

std::unique_ptr<DeviceImage> readDeviceImage(std::span<const uint8_t> Cubin,
                                             SiteTable &Sites) {
  auto Parsed = CubinImage::parse(Cubin);
  const auto *Elf = std::get_if<CubinImage>(&Parsed);
  if (!Elf)
    return nullptr;
  std::vector<const CubinImage::Symbol *> Tables;
  bool HasConfig = false;
  for (const CubinImage::Symbol &Symbol : Elf->symbols()) {
    if (Symbol.Name.starts_with(abi::TablePrefix))
      Tables.push_back(&Symbol);
    HasConfig |= Symbol.Name == abi::ConfigName;
  }
  if (Tables.empty())
    return nullptr;

  auto Image = std::make_unique<DeviceImage>();
  Image->Hash = 0xcbf29ce484222325ull;
  for (const CubinImage::Symbol *Symbol : Tables)
    if (std::string Error = addUnit(*Image, *Elf, *Symbol, Sites);
        !Error.empty() && Image->Problem.empty())
      Image->Problem = std::move(Error);
  if (!HasConfig && Image->Problem.empty())
    Image->Problem =
        fmt::format("an instrumented module has lost {}; rebuild the program "
                    "without stripping device code",
                    abi::ConfigName);
  for (const CubinImage::Symbol &Symbol : Elf->symbols())
    if (Symbol.IsKernel)
      Image->Hash = hashBytes(Image->Hash, bytesOf(Symbol.Name));
  Image->MayShuffle = mayShuffle(*Image, *Elf);
  return Image;
}

} // namespace crsan

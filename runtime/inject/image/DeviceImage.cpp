// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an image says of its instrumentation.

#include "image/DeviceImage.h"

#include "image/CubinImage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <map>
#include <unordered_set>

namespace crsan {

bool DeviceImage::has(abi::ModuleFlags Flag) const {
  return std::any_of(Units.begin(), Units.end(), [=](const DeviceUnit &Unit) {
    return (Unit.Info.Flags & Flag) != 0;
  });
}

static uint64_t hashBytes(uint64_t Hash, std::span<const uint8_t> Bytes) {
  for (uint8_t Byte : Bytes)
    Hash = (Hash ^ Byte) * 0x100000001b3ull;
  return Hash;
}

static std::span<const uint8_t> bytesOf(std::string_view Text) {
  return {reinterpret_cast<const uint8_t *>(Text.data()), Text.size()};
}

/// Adds the unit whose table is the symbol; says what is wrong with it.
static std::string addUnit(DeviceImage &Image, const ImageObject &Object,
                           SiteTable &Sites) {
  // The name is kept in any case: it ties the image to the handle.
  DeviceUnit &Unit = Image.Units.emplace_back();
  Unit.Suffix = Object.Name.substr(sizeof(abi::TablePrefix) - 1);
  if (const auto *Error = std::get_if<std::string>(&Object.Bytes))
    return fmt::format("the image of an instrumented module is damaged: {}; "
                       "rebuild the program",
                       *Error);
  auto Table = std::get<std::span<const uint8_t>>(Object.Bytes);
  Image.Hash = hashBytes(Image.Hash, Table);
  auto Info = Sites.add(Table);
  if (const auto *Error = std::get_if<TableError>(&Info))
    return Error->Message;
  Unit.Info = std::move(std::get<ModuleInfo>(Info));
  return {};
}

/// Whether all functions of the image were compiled with CRSan, or are its own
/// or ptxas's, which divide and the like. ptxas calls its copy for one kernel
/// `$kernel$function`.
static bool isAllOurs(const DeviceImage &Image,
                      std::span<const ImageObject> Objects) {
  std::unordered_set<std::string_view> Known;
  for (const DeviceUnit &Unit : Image.Units)
    Known.insert(Unit.Info.Functions.begin(), Unit.Info.Functions.end());
  return std::all_of(
      Objects.begin(), Objects.end(), [&](const ImageObject &Object) {
        std::string_view Name = Object.Name;
        Name = Known.contains(Name) ? Name : Name.substr(Name.rfind('$') + 1);
        return !Object.IsFunction || Known.contains(Name) ||
               Name.starts_with("__crsan_") || Name.starts_with("__cuda_sm");
      });
}

std::unique_ptr<DeviceImage>
readDeviceImage(std::span<const ImageObject> Objects, SiteTable &Sites) {
  std::vector<const ImageObject *> Tables;
  bool HasConfig = false;
  for (const ImageObject &Object : Objects) {
    if (Object.Name.starts_with(abi::TablePrefix))
      Tables.push_back(&Object);
    HasConfig |= Object.Name == abi::ConfigName;
  }
  if (Tables.empty())
    return nullptr;

  auto Image = std::make_unique<DeviceImage>();
  Image->Hash = 0xcbf29ce484222325ull;
  for (const ImageObject *Table : Tables)
    if (std::string Error = addUnit(*Image, *Table, Sites);
        !Error.empty() && Image->Problem.empty())
      Image->Problem = std::move(Error);
  if (!HasConfig && Image->Problem.empty())
    Image->Problem =
        fmt::format("an instrumented module has lost {}; rebuild the program "
                    "without stripping device code",
                    abi::ConfigName);
  for (const ImageObject &Object : Objects)
    if (Object.IsKernel)
      Image->Hash = hashBytes(Image->Hash, bytesOf(Object.Name));
  const bool IsAllOurs = isAllOurs(*Image, Objects);
  // Every function has to agree on the block index.
  Image->MayShuffle = IsAllOurs && !Image->has(abi::NoShuffle);
  Image->MayWait =
      !IsAllOurs || (Image->Units.size() > 1 && Image->has(abi::MayWait));
  return Image;
}

/// Whether crsan-ptxas made the machine code (abi::Config::Assembled).
static bool isAssembledByCRSan(const ImageObject &Config) {
  const auto *Bytes = std::get_if<std::span<const uint8_t>>(&Config.Bytes);
  uint64_t Mark = 0;
  if (Bytes && Bytes->size() == sizeof(abi::Config))
    std::memcpy(&Mark, Bytes->data() + offsetof(abi::Config, Assembled),
                sizeof(Mark));
  return Mark == abi::AssembledMark;
}

static std::vector<VariableBlock> findVariables(const CubinImage &Elf) {
  std::vector<VariableBlock> Found;
  std::map<uint16_t, size_t> Sections; ///< Where in Found they are.
  for (const CubinImage::Symbol &Symbol : Elf.symbols()) {
    uint64_t Bytes = Elf.writableBytes(Symbol);
    if (Bytes == 0 || Symbol.Size == 0)
      continue;
    if (Symbol.IsManaged) {
      Found.push_back({Symbol.Size, true, {{std::string(Symbol.Name), 0}}});
      continue;
    }
    auto [Known, IsNew] = Sections.try_emplace(Symbol.Section, Found.size());
    if (IsNew)
      Found.push_back({.Size = Bytes, .Symbols = {}});
    Found[Known->second].Symbols.emplace_back(Symbol.Name, Symbol.Value);
  }
  return Found;
}

std::unique_ptr<DeviceImage> readDeviceImage(std::span<const uint8_t> Cubin,
                                             SiteTable &Sites) {
  auto Parsed = CubinImage::parse(Cubin);
  const auto *Elf = std::get_if<CubinImage>(&Parsed);
  if (!Elf)
    return nullptr;
  std::vector<ImageObject> Objects;
  for (const CubinImage::Symbol &Symbol : Elf->symbols())
    Objects.push_back({Symbol.Name, Symbol.IsFunction, Symbol.IsKernel,
                       Elf->bytesOf(Symbol)});
  std::unique_ptr<DeviceImage> Image = readDeviceImage(Objects, Sites);
  if (!Image)
    return nullptr;
  Image->Variables = findVariables(*Elf);
  auto Config =
      std::find_if(Objects.begin(), Objects.end(), [](const ImageObject &O) {
        return O.Name == abi::ConfigName;
      });
  if (Image->Problem.empty() && Config != Objects.end() &&
      !isAssembledByCRSan(*Config)) {
    // Its tables are those of the image that the program was linked with.
    Image->Hash = hashBytes(Image->Hash, bytesOf("compiled from PTX"));
    Image->Problem =
        "the program has no machine code for this GPU, so the driver has "
        "compiled an instrumented module from PTX, in which checks may disturb "
        "the program; compile with --offload-arch=sm_NM, where `nvidia-smi "
        "--query-gpu=compute_cap --format=csv` says N.M";
  }
  return Image;
}

} // namespace crsan

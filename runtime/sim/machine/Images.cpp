// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules of a device, and their storage.
#include "Device.h"
#include "Linker.h"

#include <algorithm>

namespace ptx = crsan::ptx;
using namespace crsan::sim;

//===----------------------------------------------------------------------===//
// Image
//===----------------------------------------------------------------------===//

Ref Image::constant(uint64_t Value, unsigned Size) {
  if (Size < 8)
    Value &= (uint64_t(1) << 8 * Size) - 1;
  auto [It, IsNew] =
      Known.emplace(std::pair(Value, Size), uint32_t(Constants.size()));
  if (IsNew) {
    Constants.resize(Constants.size() + Size * WarpSize);
    for (unsigned L = 0; L < WarpSize; ++L)
      std::memcpy(&Constants[It->second + L * Size], &Value,
                  std::min(Size, 8u));
  }
  return {It->second, Rows::Constant, uint8_t(Size), true};
}

//===----------------------------------------------------------------------===//
// Device
//===----------------------------------------------------------------------===//

std::variant<ModuleId, std::string>
Device::load(std::span<const std::string> PTX, std::string Name) {
  auto New = std::make_unique<Image>();
  New->Id = NextModule++;
  New->Name = std::move(Name);
  std::string Error = link(*this, *New, PTX);
  if (!Error.empty()) {
    for (auto &[P, Size] : New->Storage)
      release(P);
    return Error;
  }
  ModuleId Id = New->Id;
  Images[Id] = std::move(New);
  return Id;
}

void Device::unload(ModuleId Id) {
  auto It = Images.find(Id);
  if (It == Images.end())
    return;
  auto Forget = [&](Device &D) {
    for (Function &F : It->second->Functions)
      if (auto Free = D.FreeFrames.find(&F); Free != D.FreeFrames.end()) {
        for (Frame *Fr : Free->second)
          delete Fr;
        D.FreeFrames.erase(Free);
      }
  };
  Forget(*this);
  for (auto &D : Alone)
    Forget(*D);
  for (auto &[P, Size] : It->second->Storage)
    release(P);
  Images.erase(It);
}

void *Device::allocate(size_t Bytes, size_t Align, bool IsReadOnly) {
  if (Whole)
    return Whole->allocate(Bytes, Align, IsReadOnly);
  void *P = DeviceMemory.allocate(Bytes, Align);
  if (!P)
    return nullptr;
  Table.add(reinterpret_cast<uint64_t>(P), Bytes, IsReadOnly);
  if (Watch)
    Watch->allocated({P, Bytes});
  return P;
}

bool Device::release(void *P) {
  if (Whole)
    return Whole->release(P);
  size_t Bytes = DeviceMemory.free(P);
  if (!Table.remove(reinterpret_cast<uint64_t>(P)))
    return false;
  if (Watch)
    Watch->freed({P, Bytes});
  return true;
}

std::vector<SourceLine> Device::where(int32_t Instruction) const {
  if (Whole) {
    std::lock_guard Lock(Whole->Asking);
    return Whole->where(Instruction);
  }
  if (Instruction < 0 || size_t(Instruction) >= Origins.size())
    return {};
  const Origin &O = Origins[Instruction];
  if (!O.Unit)
    return {};
  auto &OfUnit = Lines[O.Unit.get()];
  if (!OfUnit)
    OfUnit = std::make_unique<ptx::SourceLines>(*O.Unit);
  std::vector<SourceLine> Result;
  for (const ptx::SourceFrame &F : OfUnit->at(O.Location))
    Result.push_back(
        {std::string(F.File), F.Line, F.Column, std::string(F.Function)});
  if (!Result.empty() && O.In)
    Result.back().Function = O.In->Name;
  return Result;
}

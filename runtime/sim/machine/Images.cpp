//===- Images.cpp - Modules of a device, and their storage ----------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Device.h"
#include "Linker.h"

#include "PTX/DebugStrings.h"

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
  std::vector<SourceLine> Lines;
  if (Instruction < 0 || size_t(Instruction) >= Origins.size())
    return Lines;
  const Origin &O = Origins[Instruction];
  if (!O.Unit)
    return Lines;
  auto &Strings = DebugNames[O.Unit.get()];
  if (!Strings)
    Strings = std::make_unique<ptx::DebugStrings>(*O.Unit);
  for (int32_t At = O.Location; At >= 0 && Lines.size() < 64;) {
    const ptx::Location &L = O.Unit->Locations[At];
    SourceLine &Line = Lines.emplace_back();
    for (const ptx::Module::File &F : O.Unit->Files)
      if (F.Number == L.File)
        Line.File = F.Name;
    Line.Line = L.Line;
    Line.Column = L.Column;
    Line.Function = L.InlinedAt < 0 ? std::string(O.In ? O.In->Name : "")
                                    : std::string(Strings->find(L.Function));
    At = L.InlinedAt;
  }
  return Lines;
}

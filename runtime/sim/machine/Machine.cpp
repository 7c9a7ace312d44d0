// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One simulated GPU.
#include "Machine.h"

#include "Device.h"

#include <algorithm>
#include <fmt/format.h>

using namespace crsan::sim;

class Machine::Impl : public Device {
public:
  using Device::Device;
};

Machine::Machine(int Ordinal, Options O)
    : P(std::make_unique<Impl>(Ordinal, std::move(O))) {}
Machine::~Machine() = default;

const Options &Machine::options() const { return P->Opt; }

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

std::variant<ModuleId, std::string>
Machine::load(std::span<const std::string> PTX, std::string Name) {
  return P->load(PTX, std::move(Name));
}

void Machine::unload(ModuleId Id) { P->unload(Id); }

const KernelInfo *Machine::findKernel(ModuleId Id,
                                      std::string_view Name) const {
  auto It = P->Images.find(Id);
  if (It == P->Images.end())
    return nullptr;
  auto K = It->second->KernelsByName.find(Name);
  return K == It->second->KernelsByName.end() ? nullptr : &K->second->Info;
}

std::vector<const KernelInfo *> Machine::kernels(ModuleId Id) const {
  std::vector<const KernelInfo *> All;
  if (auto It = P->Images.find(Id); It != P->Images.end())
    for (const Kernel &K : It->second->Kernels)
      All.push_back(&K.Info);
  return All;
}

std::optional<Symbol> Machine::findSymbol(ModuleId Id,
                                          std::string_view Name) const {
  auto It = P->Images.find(Id);
  if (It == P->Images.end())
    return std::nullopt;
  auto S = It->second->Symbols.find(Name);
  if (S == It->second->Symbols.end())
    return std::nullopt;
  return S->second;
}

std::optional<PlaceInVariable> Machine::variableAt(uint64_t Address) const {
  for (const auto &[Id, Image] : P->Images)
    for (const auto &[Name, S] : Image->Symbols)
      if (const uint64_t Base = reinterpret_cast<uint64_t>(S.Address);
          Address >= Base && Address - Base < S.Size)
        return PlaceInVariable{std::string(Name), Address - Base, S.Size};
  return std::nullopt;
}

std::optional<PlaceInVariable>
Machine::sharedVariableAt(std::string_view Kernel, uint64_t Offset) const {
  std::optional<PlaceInVariable> Found;
  for (const auto &[Id, Image] : P->Images) {
    const auto K = Image->KernelsByName.find(Kernel);
    if (K == Image->KernelsByName.end())
      continue;
    for (size_t V = 0; V < Image->SharedVariables.size(); ++V) {
      const SharedVariable &S = Image->SharedVariables[V];
      const uint64_t Begin = K->second->SharedOffsets[V];
      if (Begin == Kernel::NotUsed || Offset < Begin ||
          (!S.IsDynamic && Offset - Begin >= S.Size))
        continue;
      if (Found)
        return std::nullopt;
      Found = PlaceInVariable{S.Name, Offset - Begin, S.IsDynamic ? 0 : S.Size};
    }
  }
  return Found;
}

std::vector<HostRange> Machine::storage(ModuleId Id) const {
  std::vector<HostRange> All;
  if (auto It = P->Images.find(Id); It != P->Images.end())
    for (auto [Begin, Size] : It->second->Storage)
      All.push_back({Begin, Size});
  return All;
}

std::vector<SourceLine> Machine::where(int32_t Instruction) const {
  return P->where(Instruction);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void *Machine::allocate(size_t Bytes, size_t Align) {
  return P->allocate(Bytes, Align);
}
void Machine::free(void *Pointer) { P->release(Pointer); }

std::optional<HostRange> Machine::rangeOf(const void *Pointer) const {
  const AllocationTable::Range *R =
      P->Table.find(reinterpret_cast<uint64_t>(Pointer), 1);
  if (!R)
    return std::nullopt;
  return HostRange{reinterpret_cast<const void *>(R->Begin), R->End - R->Begin};
}

void Machine::allowRange(void *Pointer, size_t Size, bool IsHosts) {
  P->Table.add(reinterpret_cast<uint64_t>(Pointer), Size, false);
  if (!P->Watch)
    return;
  P->Watch->allocated({Pointer, Size});
  if (IsHosts)
    P->Watch->hostVisible({Pointer, Size});
}

void Machine::disallowRange(void *Pointer) {
  auto Range = rangeOf(Pointer);
  if (P->Table.remove(reinterpret_cast<uint64_t>(Pointer)) && P->Watch && Range)
    P->Watch->freed(*Range);
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

Stream Machine::createStream(bool NonBlocking, int Priority) {
  Stream S = P->NextStream++;
  P->Streams[S].IsBlocking = !NonBlocking;
  P->Streams[S].Priority = Priority;
  return S;
}

void Machine::destroyStream(Stream S) {
  auto It = P->Streams.find(S);
  if (S == 0 || It == P->Streams.end())
    return;
  if (It->second.Queue.empty())
    P->endStream(S);
  else
    It->second.IsDoomed = true;
}

Event Machine::createEvent() {
  P->Events[P->NextEvent];
  return P->NextEvent++;
}

void Machine::destroyEvent(Event E) {
  auto It = P->Events.find(E);
  if (It == P->Events.end())
    return;
  // Whoever waits for it still does.
  if (It->second.Reached >= It->second.Recorded)
    P->Events.erase(It);
  else
    It->second.IsDoomed = true;
}

void Machine::launch(Stream S, Launch L) {
  Device::Operation Op;
  Op.What = Device::Operation::Kind::Launch;
  Op.Code = std::move(L);
  P->push(S, std::move(Op));
}

void Machine::enqueue(Stream S, HostOp H) {
  Device::Operation Op;
  Op.What = Device::Operation::Kind::Host;
  Op.Host = std::move(H);
  P->push(S, std::move(Op));
}

void Machine::record(Event E, Stream S) {
  Device::Operation Op;
  Op.What = Device::Operation::Kind::Record;
  Op.Event = E;
  P->push(S, std::move(Op));
}

void Machine::wait(Stream S, Event E) {
  Device::Operation Op;
  Op.What = Device::Operation::Kind::Wait;
  Op.Event = E;
  P->push(S, std::move(Op));
}

void Machine::wait(Stream S, const Machine &Other, Event E) {
  Device::Operation Op;
  Op.What = Device::Operation::Kind::Outside;
  Op.Event = E;
  Op.Other = &Other;
  P->push(S, std::move(Op));
}

int Machine::ordinal() const { return P->Ordinal; }

bool Machine::isDone(Stream S) const {
  auto It = P->Streams.find(S);
  return It == P->Streams.end() || It->second.Queue.empty();
}

bool Machine::isEventDone(Event E) const {
  auto It = P->Events.find(E);
  return It == P->Events.end() || It->second.Reached >= It->second.Recorded;
}

bool Machine::isAllDone() const { return P->isIdle(); }

std::optional<uint64_t> Machine::completedAt(Event E) const {
  auto It = P->Events.find(E);
  return It == P->Events.end() ? std::nullopt : It->second.Time;
}

uint64_t Machine::now() const { return P->Now; }

std::optional<Fault> Machine::drive(Wait What, uint64_t Handle) {
  auto IsDone = [&] {
    switch (What) {
    case Wait::Stream:
      return isDone(Handle);
    case Wait::Event:
      return isEventDone(Handle);
    case Wait::All:
      return isAllDone();
    }
    return true;
  };
  std::optional<Fault> Bad = P->drive(IsDone, 0);
  if (Bad || !P->Watch)
    return Bad;
  switch (What) {
  case Wait::Stream:
    P->Watch->hostSyncStream(Handle);
    break;
  case Wait::Event:
    P->Watch->hostSyncEvent(Handle);
    break;
  case Wait::All:
    P->Watch->hostSyncAll();
    break;
  }
  return Bad;
}

std::optional<Fault> Machine::advance(uint64_t Steps) {
  return P->drive([&] { return isAllDone(); }, std::max<uint64_t>(Steps, 1));
}

void Machine::setIdle(std::function<bool()> Idle) { P->Idle = std::move(Idle); }

std::optional<Fault> Machine::fault() const { return P->Failed; }

void Machine::reset() {
  int Ordinal = P->Ordinal;
  Options O = P->Opt;
  Observer *Watch = P->Watch;
  // What observers have been told stays unique, and its lines known.
  auto Origins = std::move(P->Origins);
  uint64_t Uids[] = {P->NextGrid,       P->NextBlockUid, P->NextThreadUid,
                     P->NextBarrierUid, P->NextAsync,    P->Now,
                     P->NextGridId};
  P.reset(); // First: the new one is to have the same addresses.
  P = std::make_unique<Impl>(Ordinal, std::move(O));
  P->Watch = Watch;
  P->Origins = std::move(Origins);
  P->NextGrid = Uids[0];
  P->NextBlockUid = Uids[1];
  P->NextThreadUid = Uids[2];
  P->NextBarrierUid = Uids[3];
  P->NextAsync = Uids[4];
  P->Now = Uids[5];
  P->NextGridId = Uids[6];
}

uint64_t Machine::instructions() const { return P->ThreadSteps; }
uint64_t Machine::steps() const { return P->Steps; }
void Machine::setObserver(Observer *O) { P->Watch = O; }

unsigned Machine::blocksPerMultiprocessor(const KernelInfo &K, uint32_t Threads,
                                          uint32_t DynamicShared) const {
  if (!Threads || Threads > K.MaxThreads)
    return 0;
  uint32_t Rounded = (Threads + WarpSize - 1) / WarpSize * WarpSize;
  uint32_t Shared = (K.StaticShared + DynamicShared + 127) / 128 * 128 + 1024;
  return std::min({MaxBlocksPerMultiprocessor,
                   MaxThreadsPerMultiprocessor / Rounded,
                   MaxSharedPerMultiprocessor / Shared});
}

//===----------------------------------------------------------------------===//
// Fault
//===----------------------------------------------------------------------===//

std::string_view crsan::sim::name(Fault::Kind K) {
  switch (K) {
  case Fault::Kind::InvalidAddress:
    return "invalid address";
  case Fault::Kind::Misaligned:
    return "misaligned address";
  case Fault::Kind::BarrierDivergence:
    return "barrier divergence";
  case Fault::Kind::Deadlock:
    return "deadlock";
  case Fault::Kind::Trap:
    return "trap";
  case Fault::Kind::Assert:
    return "assertion failure";
  case Fault::Kind::UnknownInstruction:
    return "unknown instruction";
  case Fault::Kind::UninitialisedShared:
    return "uninitialised shared memory";
  case Fault::Kind::StepLimit:
    return "step limit";
  case Fault::Kind::Unsupported:
    return "not supported";
  }
  return "fault";
}

std::string Fault::text() const {
  std::string Out = fmt::format("{}: {}", name(What), Message);
  if (!Kernel.empty())
    Out += fmt::format("\n  in kernel {}, block ({},{},{}), thread ({},{},{})",
                       Kernel, Block.X, Block.Y, Block.Z, Thread.X, Thread.Y,
                       Thread.Z);
  for (const SourceLine &L : Where)
    Out += L.Line ? fmt::format("\n    at {}:{}:{} {}", L.File, L.Line,
                                L.Column, L.Function)
                  : fmt::format("\n    in {}", L.Function);
  return Out;
}

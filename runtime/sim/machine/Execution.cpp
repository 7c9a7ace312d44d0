// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses, accesses and faults of one fragment.
#include "Device.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

using namespace crsan::sim;

void Execution::bind(Fragment *New) {
  F = New;
  W = F->In;
  B = W->In;
  G = B->Of;
  Bases = {F->Top->Rows.data(), G->In->constants(), W->Special.data(),
           B->Rank ? B->SharedRows.data() : G->Code->SharedRows.data()};
}

ThreadRef Execution::thread(unsigned Lane) const {
  uint32_t Linear = W->Index * WarpSize + Lane;
  return {G->Id, B->Index, Linear, B->In->Index, B->FirstThread + Linear};
}

//===----------------------------------------------------------------------===//
// Faults
//===----------------------------------------------------------------------===//

Fault Execution::describe(const Instruction &I, unsigned Lane, Fault::Kind What,
                          std::string Message) const {
  Fault Bad;
  Bad.What = What;
  Bad.Message = std::move(Message);
  Bad.Kernel = G->Code->Info.Name;
  Bad.Grid = G->GridId;
  Bad.Block = B->Coordinates;
  uint32_t Linear = W->Index * WarpSize + Lane;
  const Dim3 &Dim = G->What.Block;
  Bad.Thread = {Linear % Dim.X, Linear / Dim.X % Dim.Y, Linear / Dim.X / Dim.Y};
  Bad.Where = D.where(I.Id);
  // The calls that led here.
  for (const Frame *Fr = F->Top; Fr && Fr->Caller; Fr = Fr->Caller)
    if (const auto &Code = Fr->Caller->Fn->Code;
        Fr->ReturnTo > 0 && Fr->ReturnTo <= Code.size())
      for (SourceLine &Line : D.where(Code[Fr->ReturnTo - 1].Id))
        Bad.Where.push_back(std::move(Line));
  return Bad;
}

Outcome Execution::fault(const Instruction &I, unsigned Lane, Fault::Kind What,
                         std::string Message, uint64_t Address) {
  Fault Bad = describe(I, Lane, What, std::move(Message));
  Bad.Address = Address;
  D.raise(std::move(Bad));
  return Outcome::Faulted;
}

Outcome Execution::failAssertion(const Instruction &I, unsigned Lane,
                                 std::string Message, SourceLine Where) {
  Fault Bad = describe(I, Lane, Fault::Kind::Assert, std::move(Message));
  // Clang's header has a function that calls this one; it comes without a frame
  // of its own where it was inlined.
  auto IsThere = [&](const SourceLine &L) {
    return L.Line == Where.Line &&
           std::filesystem::path(L.File).filename() ==
               std::filesystem::path(Where.File).filename();
  };
  auto User = std::find_if(Bad.Where.begin(), Bad.Where.end(), IsThere);
  if (User != Bad.Where.end())
    Bad.Where.erase(Bad.Where.begin(), User);
  else if (Bad.Where.empty())
    Bad.Where.push_back(std::move(Where));
  else
    Bad.Where.front() = std::move(Where);
  D.raise(std::move(Bad));
  return Outcome::Faulted;
}

Referent Execution::bad(const Instruction &I, unsigned Lane, uint64_t Address,
                        const Touch &T, std::string_view Why,
                        bool IsMisaligned) {
  // Instrumentation looks at memory before the program accesses it: the fault
  // is the access, which says what it is. A parameter the program need not read
  // in the same way.
  alignas(16) static constexpr uint8_t Nothing[64] = {};
  if (I.IsHidden && !T.writes() && T.Size <= sizeof(Nothing) &&
      I.Space != ptx::StateSpace::Param)
    return {Referent::Kind::Private, const_cast<uint8_t *>(Nothing), nullptr,
            0};
  std::string_view Verb = T.isAtomic() ? "atomic access to"
                          : T.writes() ? "write to"
                                       : "read of";
  fault(I, Lane,
        IsMisaligned ? Fault::Kind::Misaligned : Fault::Kind::InvalidAddress,
        fmt::format("{} {} bytes at 0x{:x}: {}", Verb, T.Size, Address, Why),
        Address);
  return {};
}

//===----------------------------------------------------------------------===//
// Addresses
//===----------------------------------------------------------------------===//

Referent Execution::inShared(const Instruction &I, unsigned Lane,
                             uint64_t Address, const Touch &T) {
  const uint32_t Offset = ClusterAddress::offset(Address);
  const uint32_t Rank = ClusterAddress::rank(Address);
  Block *Owner = B;
  if (Rank != B->Rank) {
    if (Rank >= B->In->Blocks.size())
      return bad(I, Lane, Address, T, "no such block in the cluster");
    Owner = B->In->Blocks[Rank].get();
    if (!Owner->LiveThreads)
      return bad(I, Lane, Address, T,
                 "shared memory of a block that has exited");
  }
  if (ReservedShared::holds(Offset, T.Size))
    return {Referent::Kind::Shared, Owner->sharedAt(Offset), Owner, Offset};
  if (Offset + uint64_t(T.Size) > Owner->Shared.size())
    return bad(I, Lane, Address, T,
               fmt::format("beyond the block's {} bytes of shared memory",
                           Owner->Shared.size()));
  return {Referent::Kind::Shared, Owner->Shared.data() + Offset, Owner, Offset};
}

Referent Execution::inLocal(const Instruction &I, unsigned Lane,
                            uint64_t Address, const Touch &T) {
  uint64_t Offset = uint32_t(Address);
  if (Offset + T.Size > F->Top->LocalTop)
    return bad(I, Lane, Address, T,
               fmt::format("beyond the thread's {} bytes of local memory",
                           F->Top->LocalTop));
  return {Referent::Kind::Private, local(Lane, uint32_t(Offset)), nullptr, 0};
}

Referent Execution::inParam(const Instruction &I, unsigned Lane,
                            uint64_t Address, const Touch &T) {
  uint64_t Offset = uint32_t(Address);
  std::vector<uint8_t> &Params = G->What.Params;
  if (Offset + T.Size > Params.size())
    return bad(I, Lane, Address, T,
               fmt::format("beyond the kernel's {} bytes of parameters",
                           Params.size()));
  if (T.writes())
    return bad(I, Lane, Address, T, "a kernel's parameters cannot be written");
  return {Referent::Kind::Private, Params.data() + Offset, nullptr, 0};
}

Referent Execution::resolve(const Instruction &I, unsigned Lane,
                            uint64_t Address, const Touch &T) {
  return resolve(I.Space, I, Lane, Address, T);
}

Referent Execution::resolve(ptx::StateSpace Space, const Instruction &I,
                            unsigned Lane, uint64_t Address, const Touch &T) {
  using ptx::StateSpace;
  if (Address & (T.Align - 1))
    return bad(I, Lane, Address, T,
               fmt::format("not a multiple of {}", T.Align), true);
  uint64_t Tag = window::tag(Address);
  switch (Space) {
  case StateSpace::Shared:
    if (Tag == window::Shared || Address >> 32 == 0)
      return inShared(I, Lane, Address, T);
    return bad(I, Lane, Address, T, "not an address of shared memory");
  case StateSpace::Local:
    if (Tag == window::Local || Address >> 32 == 0)
      return inLocal(I, Lane, Address, T);
    return bad(I, Lane, Address, T, "not an address of local memory");
  case StateSpace::Param:
    // Parameters of device functions are in local memory.
    if (Tag == window::Local)
      return inLocal(I, Lane, Address, T);
    if (Tag == window::Param || Address >> 32 == 0)
      return inParam(I, Lane, Address, T);
    return bad(I, Lane, Address, T, "not an address of a parameter");
  default:
    break;
  }
  if (Tag == 0) {
    const AllocationTable::Range *R = D.Table.find(Address, T.Size);
    if (R && !(R->IsReadOnly && T.writes())) [[likely]] {
      uint8_t *Bytes = reinterpret_cast<uint8_t *>(Address);
      if (D.Buffer && !R->IsReadOnly && !T.IsLater)
        Bytes = D.Buffer->at(Address, T.Size, T.reads(), T.writes());
      return {R->IsReadOnly ? Referent::Kind::Constant : Referent::Kind::Global,
              Bytes, nullptr, 0};
    }
    if (R)
      return bad(I, Lane, Address, T, "constant memory cannot be written");
    const AllocationTable::Range *Near = D.Table.nearest(Address);
    if (Near && Address - Near->End < (1u << 20) && Address >= Near->End)
      return bad(
          I, Lane, Address, T,
          fmt::format("{} bytes past the end of an allocation of {} bytes",
                      Address - Near->End, Near->End - Near->Begin));
    if (Near && Address < Near->End)
      return bad(I, Lane, Address, T,
                 fmt::format("runs over the end of an allocation of {} bytes",
                             Near->End - Near->Begin));
    return bad(I, Lane, Address, T,
               Address < 4096 ? "a null pointer"
                              : "not an address of device memory");
  }
  if (Space != StateSpace::Generic && Space != StateSpace::None)
    return bad(I, Lane, Address, T,
               "not an address of the instruction's state space");
  if (Tag == window::Shared)
    return inShared(I, Lane, Address, T);
  if (Tag == window::Local)
    return inLocal(I, Lane, Address, T);
  if (Tag == window::Param)
    return inParam(I, Lane, Address, T);
  return bad(I, Lane, Address, T,
             Tag == window::Code ? "the address of a function"
                                 : "not an address");
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

crsan::abi::Space Referent::space() const {
  return In == Kind::Shared     ? Space::Shared
         : In == Kind::Constant ? Space::Constant
                                : Space::Global;
}

uint64_t Referent::reportedAddress() const {
  return In == Kind::Shared ? SharedAddress::make(Owner->Uid, Offset)
                            : reinterpret_cast<uint64_t>(Bytes);
}

bool Execution::note(const Instruction &I, unsigned Lane, const Referent &At,
                     const Touch &T) {
  if (At.In == Referent::Kind::Private)
    return true;
  if (At.In == Referent::Kind::Shared && At.Offset < At.Owner->Written.size()) {
    auto First = At.Owner->Written.begin() + At.Offset;
    const uint32_t Used = I.Means ? I.Means->UsedBytes : ~0u;
    const auto IsUsed = [&](uint32_t Byte) {
      return Byte >= 32 || (Used >> Byte & 1);
    };
    bool IsMissing = false;
    for (uint32_t Byte = 0; Byte < T.Size; ++Byte)
      IsMissing |= IsUsed(Byte) && !First[Byte];
    if (T.reads() && IsMissing) {
      fault(I, Lane, Fault::Kind::UninitialisedShared,
            fmt::format("read of {} bytes of shared memory at offset {} that "
                        "nobody has written",
                        T.Size, At.Offset),
            window::Shared + At.Offset);
      return false;
    }
    for (uint32_t Byte = 0; T.writes() && Byte < T.Size; ++Byte)
      First[Byte] |= IsUsed(Byte);
  }
  if (!D.Watch || I.IsHidden)
    return true;
  Access A{T};
  A.Space = At.space();
  A.Order = I.How.Order;
  A.Within = I.How.Within;
  A.IsVolatile = I.How.IsVolatile;
  A.Address = At.reportedAddress();
  A.Size = T.Size;
  A.Elements = T.Elements;
  A.Instruction = I.Id;
  if (I.Means)
    noteMeaning(I, Lane, A);
  else
    D.Watch->access(thread(Lane), A);
  return true;
}

/// The instruction is one whose second operand is the base of its address, or a
/// vector access of which some bytes are meant.
void Execution::noteMeaning(const Instruction &I, unsigned Lane, Access A) {
  const Meaning &M = *I.Means;
  if (M.IsGuess)
    return;
  if (M.Size) {
    uint64_t Offset = 0;
    if (M.Address.IsValid)
      Offset = value(M.Address, Lane) - address(I, I.Op[1], Lane);
    // Else the pointer is another one by now.
    if (Offset < A.Size) {
      A.Address += Offset;
      A.Size = M.Size;
      A.MayBeWider = M.MayBeWider;
    }
    return D.Watch->access(thread(Lane), A);
  }
  const uint64_t Begin = A.Address;
  const uint32_t Size = A.Size;
  const auto IsUsed = [&](uint32_t Byte) {
    return Byte < Size && (Byte >= 32 || (M.UsedBytes >> Byte & 1));
  };
  for (uint32_t At = 0; At < Size; ++At) {
    const uint32_t First = At;
    while (IsUsed(At))
      ++At;
    if (At == First)
      continue;
    A.Address = Begin + First;
    A.Size = At - First;
    A.Elements = 1;
    D.Watch->access(thread(Lane), A);
  }
}

bool Execution::isShared(const Instruction &I, const Ref &Base) const {
  if (!D.Buffer || I.Space == ptx::StateSpace::Shared)
    return false;
  for (uint32_t M = Mask; M; M &= M - 1)
    if (!window::tag(address(I, Base, std::countr_zero(M))))
      return true;
  return false;
}

void Execution::fence(const Instruction &I) {
  if (D.Watch && !I.IsHidden)
    for (uint32_t M = Mask; M; M &= M - 1)
      D.Watch->fence(thread(std::countr_zero(M)), I.How.Order, I.How.Within);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Modules: linking and initial values.
#include "Linker.h"
#include "Decoder.h"
#include "Device.h"
#include "Kernels.h"

#include "PTX/Parser.h"

#include <algorithm>
#include <fmt/format.h>

namespace ptx = crsan::ptx;
using namespace crsan::sim;
using crsan::ptx::Operand;
using crsan::ptx::ScalarType;
using crsan::ptx::StateSpace;
using Linkage = crsan::ptx::Variable::Linkage;

namespace {

/// Loads one image. Names are local to a unit, or linked.
class Linker {
public:
  Linker(Device &D, Image &To) : D(D), To(To) {}

  std::string run(std::span<const std::string> PTX);

private:
  struct UnitNames {
    std::unordered_map<std::string_view, uint64_t> Addresses;
    std::unordered_map<std::string_view, uint32_t> Shared, Functions;
  };
  struct Defined {
    const ptx::Variable *Tree;
    uint64_t Address;
    size_t Unit;
  };

  void defineFunctions(size_t Unit);
  void defineVariables(size_t Unit);
  void resolveUnit(size_t Unit);
  uint64_t store(const ptx::Variable &, size_t Unit);
  void initialise(const Defined &);
  uint64_t valueOf(const Operand &, ScalarType, const UnitNames &);
  void decode(size_t Unit);
  void describeKernels();

  Device &D;
  Image &To;
  std::string Error;
  std::vector<UnitNames> Units;
  UnitNames Linked;
  std::unordered_map<std::string_view, Linkage> LinkedAs;
  std::vector<Defined> Variables;
};

std::string Linker::run(std::span<const std::string> PTX) {
  for (const std::string &Text : PTX) {
    auto Parsed = ptx::parseModule(Text);
    if (auto *E = std::get_if<ptx::ParseError>(&Parsed))
      return fmt::format("{}:{}:{}: {}: {}", To.Name, E->Pos.Line,
                         E->Pos.Column, E->Message, E->Line);
    To.Units.push_back(std::make_shared<ptx::Module>(
        std::get<ptx::Module>(std::move(Parsed))));
  }
  Units.resize(To.Units.size());
  for (size_t U = 0; U < Units.size(); ++U) {
    defineFunctions(U);
    defineVariables(U);
  }
  for (size_t U = 0; U < Units.size(); ++U)
    resolveUnit(U);
  for (size_t N = 0; N < Variables.size(); ++N)
    initialise(Variables[N]);
  size_t Done = Variables.size();
  for (size_t U = 0; U < Units.size(); ++U)
    decode(U);
  for (; Done < Variables.size(); ++Done)
    initialise(Variables[Done]);
  describeKernels();
  return Error;
}

void Linker::defineFunctions(size_t Unit) {
  for (const auto &Item : To.Units[Unit]->Items) {
    auto *F = std::get_if<ptx::Function>(&Item);
    if (!F || !F->Body)
      continue;
    bool IsLocal = F->Link == Linkage::Internal && !F->IsKernel;
    auto Known = Linked.Functions.find(F->Name);
    if (!IsLocal && Known != Linked.Functions.end()) {
      if (F->Link != Linkage::Weak && LinkedAs[F->Name] != Linkage::Weak) {
        Error =
            fmt::format("{}: function {} is defined twice", To.Name, F->Name);
        return;
      }
      if (F->Link == Linkage::Weak)
        continue;
    }
    uint32_t Index = uint32_t(To.Functions.size());
    Function &New = To.Functions.emplace_back();
    New.Name = F->Name;
    New.Index = Index;
    New.IsKernel = F->IsKernel;
    New.IsDefined = true;
    New.Tree = F;
    New.Unit = To.Units[Unit].get();
    if (IsLocal) {
      Units[Unit].Functions[F->Name] = Index;
    } else {
      Linked.Functions[F->Name] = Index;
      LinkedAs[F->Name] = F->Link;
    }
  }
}

uint64_t Linker::store(const ptx::Variable &V, size_t Unit) {
  uint64_t Align = std::max<uint64_t>(
      {V.Align, ptx::sizeOf(V.Type) * uint64_t(V.VectorLength), 16});
  uint64_t Size = V.size();
  void *P = D.allocate(std::max<uint64_t>(Size, 1), Align,
                       V.Space == StateSpace::Const);
  if (!P) {
    Error = fmt::format("{}: no memory for {}", To.Name, V.Name);
    return 0;
  }
  std::memset(P, 0, Size);
  To.Storage.push_back({P, Size});
  Variables.push_back({&V, reinterpret_cast<uint64_t>(P), Unit});
  return reinterpret_cast<uint64_t>(P);
}

void Linker::defineVariables(size_t Unit) {
  for (const auto &Item : To.Units[Unit]->Items) {
    auto *V = std::get_if<ptx::Variable>(&Item);
    if (!V || (V->Link == Linkage::Extern && V->Space != StateSpace::Shared))
      continue;
    bool IsLocal = V->Link == Linkage::Internal;
    UnitNames &Names = IsLocal ? Units[Unit] : Linked;
    if (V->Space == StateSpace::Shared) {
      if (!IsLocal && Names.Shared.count(V->Name))
        continue;
      Names.Shared[V->Name] = uint32_t(To.SharedVariables.size());
      SharedVariable &S = To.SharedVariables.emplace_back();
      S.Name = V->Name;
      S.Size = V->size();
      S.Align = std::max<uint32_t>(V->Align, ptx::sizeOf(V->Type));
      S.IsDynamic = V->Link == Linkage::Extern;
      continue;
    }
    if (V->Space != StateSpace::Global && V->Space != StateSpace::Const) {
      Error = fmt::format("{}: variable {} is in a state space that is not "
                          "supported at file scope",
                          To.Name, V->Name);
      return;
    }
    if (ptx::sizeOf(V->Type) == 8 && V->Type >= ScalarType::TexRef)
      continue; // Textures: refused where they are used.
    if (!IsLocal && Names.Addresses.count(V->Name)) {
      bool IsSoft = V->Link == Linkage::Weak || V->Link == Linkage::Common;
      Linkage Old = LinkedAs[V->Name];
      if (!IsSoft && Old != Linkage::Weak && Old != Linkage::Common)
        Error =
            fmt::format("{}: variable {} is defined twice", To.Name, V->Name);
      if (IsSoft)
        continue;
    }
    Names.Addresses[V->Name] = store(*V, Unit);
    if (!IsLocal)
      LinkedAs[V->Name] = V->Link;
    Symbol &S = To.Symbols[V->Name];
    S.Address = reinterpret_cast<void *>(Names.Addresses[V->Name]);
    S.Size = V->size();
    S.IsConstant = V->Space == StateSpace::Const;
    S.IsManaged = std::find(V->Attributes.begin(), V->Attributes.end(),
                            "managed") != V->Attributes.end();
    if (S.IsManaged && D.Watch)
      D.Watch->hostVisible({S.Address, S.Size});
  }
}

/// What the unit declares and others define; and what the machine provides.
void Linker::resolveUnit(size_t Unit) {
  UnitNames &Names = Units[Unit];
  for (auto &[Name, Value] : Linked.Addresses)
    Names.Addresses.emplace(Name, Value);
  for (auto &[Name, Value] : Linked.Shared)
    Names.Shared.emplace(Name, Value);
  for (auto &[Name, Value] : Linked.Functions)
    Names.Functions.emplace(Name, Value);
  for (const auto &Item : To.Units[Unit]->Items) {
    auto *F = std::get_if<ptx::Function>(&Item);
    if (!F || F->Body || Names.Functions.count(F->Name))
      continue;
    // Not defined anywhere: an error only if it is called.
    uint32_t Index = uint32_t(To.Functions.size());
    Function &New = To.Functions.emplace_back();
    New.Name = F->Name;
    New.Index = Index;
    New.Tree = F;
    New.BuiltIn = findBuiltIn(F->Name);
    if (!New.BuiltIn)
      New.Error = fmt::format("function {} is not defined", F->Name);
    Names.Functions[F->Name] = Linked.Functions[F->Name] = Index;
  }
}

uint64_t Linker::valueOf(const Operand &O, ScalarType Type,
                         const UnitNames &Names) {
  switch (O.What) {
  case Operand::Kind::Integer:
    if (Type == ScalarType::F32)
      return std::bit_cast<uint32_t>(float(int64_t(O.Bits)));
    if (Type == ScalarType::F64)
      return std::bit_cast<uint64_t>(double(int64_t(O.Bits)));
    return O.Bits;
  case Operand::Kind::Float:
    if (O.IsDouble && Type == ScalarType::F32)
      return std::bit_cast<uint32_t>(float(std::bit_cast<double>(O.Bits)));
    if (!O.IsDouble && Type == ScalarType::F64)
      return std::bit_cast<uint64_t>(
          double(std::bit_cast<float>(uint32_t(O.Bits))));
    return O.Bits;
  case Operand::Kind::Symbols:
    return valueOf(O.Elements.at(0), Type, Names) + O.Bits;
  case Operand::Kind::Name:
  case Operand::Kind::Sum:
    if (O.What == Operand::Kind::Name && O.Elements.size() == 2) {
      uint64_t Mask = O.Elements[0].Bits;
      return Mask ? (valueOf(O.Elements[1], Type, Names) & Mask) >>
                        std::countr_zero(Mask)
                  : 0;
    }
    if (auto It = Names.Addresses.find(O.Text); It != Names.Addresses.end())
      return It->second + O.Bits;
    if (auto It = Names.Functions.find(O.Text); It != Names.Functions.end()) {
      To.Functions[It->second].TakesAddress = true;
      return window::codeAddress(It->second) + O.Bits;
    }
    [[fallthrough]];
  default:
    Error = fmt::format("{}: an initialiser names {}, which is not defined",
                        To.Name, O.Text);
    return 0;
  }
}

void Linker::initialise(const Defined &V) {
  unsigned Size = ptx::sizeOf(V.Tree->Type);
  uint64_t Room = V.Tree->size(), At = 0;
  auto Fill = [&](const std::vector<Operand> &List, auto &Self) -> void {
    for (const Operand &O : List) {
      if (O.What == Operand::Kind::Vector) {
        Self(O.Elements, Self);
        continue;
      }
      if (At + Size > Room) {
        Error = fmt::format("{}: the initialiser of {} is too long", To.Name,
                            V.Tree->Name);
        return;
      }
      uint64_t Value = valueOf(O, V.Tree->Type, Units[V.Unit]);
      std::memcpy(reinterpret_cast<uint8_t *>(V.Address) + At, &Value,
                  std::min(Size, 8u));
      At += Size;
    }
  };
  Fill(V.Tree->Initialiser, Fill);
}

void Linker::decode(size_t Unit) {
  UnitNames &Names = Units[Unit];
  Decoder::Environment Env{
      To,
      Names.Addresses,
      Names.Shared,
      Names.Functions,
      [&](const ptx::Variable &V) { return store(V, Unit); },
      [&](const ptx::Function *F, int32_t Location) {
        D.Origins.push_back({To.Units[Unit], F, Location});
        return int32_t(D.Origins.size() - 1);
      }};
  // Functions may be added to the list (never to this unit) while it runs.
  for (size_t N = 0; N < To.Functions.size(); ++N)
    if (Function &F = To.Functions[N];
        F.IsDefined && F.Unit == To.Units[Unit].get()) {
      F.IsHidden = D.isHidden(F.Name) || D.isHidden(To.Name);
      Decoder(Env, F).run();
    }
}

void Linker::describeKernels() {
  for (const Function &F : To.Functions)
    if (F.IsKernel && F.IsDefined)
      // A weak kernel may have been overridden.
      if (auto It = Linked.Functions.find(F.Name);
          It != Linked.Functions.end() && It->second == F.Index)
        addKernel(To, F);
}

} // namespace

std::string crsan::sim::link(Device &D, Image &To,
                             std::span<const std::string> PTX) {
  return Linker(D, To).run(PTX);
}

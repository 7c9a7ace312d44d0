// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX -> LLVM IR.

#include "Lift.h"
#include "DebugLines.h"
#include "FunctionLifter.h"
#include "Symbols.h"
#include "Types.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace crsan::lift {

namespace {

/// What clang gives modules for NVPTX.
constexpr StringLiteral Layout =
    "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64";

/// All names that the operands of a function's instructions have.
class NamesIn {
public:
  explicit NamesIn(const ptx::Function &F) { add(*F.Body); }
  StringSet<> All;

private:
  void add(const ptx::Block &B) {
    for (const ptx::Statement &S : B.Statements)
      if (const auto *I = std::get_if<ptx::Instruction>(&S))
        add(I->Operands);
      else if (const auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S))
        add(**Inner);
  }
  void add(ArrayRef<ptx::Operand> Operands) {
    for (const ptx::Operand &Op : Operands) {
      if (!Op.Text.empty())
        All.insert(str(Op.Text));
      add(Op.Elements);
    }
  }
};

class ModuleLifter {
public:
  ModuleLifter(const ptx::Module &From, LLVMContext &C)
      : From(From), Code(std::make_unique<Module>("ptx", C)), Known(*Code) {
    Code->setTargetTriple(Triple("nvptx64-nvidia-cuda"));
    Code->setDataLayout(Layout);
  }

  Expected<LiftedModule> run() {
    if (From.AddressSize != 64)
      return fail("addresses of ", Twine(From.AddressSize),
                  " bits are not followed");
    if (Error E = declareAll())
      return std::move(E);
    DebugLines Lines(From, *Code);
    for (const ptx::Function *F : Defined)
      liftBody(*F, Lines);
    keepCallees();
    keepVariables();
    Lines.finish();
    return LiftedModule{std::move(Code), std::move(Kept)};
  }

private:
  Error declareAll() {
    for (const auto &Item : From.Items)
      if (Error E = std::visit([&](const auto &I) { return declare(I); }, Item))
        return E;
    return Known.initialise();
  }
  Error declare(const ptx::Variable &V) {
    return Known.addVariable(V).takeError();
  }
  Error declare(const ptx::Function &F) {
    if (Error E = Known.addFunction(F).takeError())
      return E;
    if (F.Body)
      Defined.push_back(&F);
    return Error::success();
  }
  Error declare(const ptx::Directive &D) {
    if (D.Name != ".alias" || D.Operands.size() != 2)
      return fail("the directive '", str(D.Name), "' is not followed");
    auto *Aliased =
        dyn_cast_or_null<Function>(Known.find(str(D.Operands[1].Text)));
    auto *Declared =
        dyn_cast_or_null<Function>(Known.find(str(D.Operands[0].Text)));
    if (!Aliased || !Declared)
      return fail("'", str(D.Text), "' names no function");
    auto *Alias = GlobalAlias::create(Declared->getLinkage(), "", Aliased);
    Declared->replaceAllUsesWith(Alias);
    Alias->takeName(Declared);
    Declared->eraseFromParent();
    return Error::success();
  }

  void liftBody(const ptx::Function &From, DebugLines &Lines) {
    Function &F = *Code->getFunction(str(From.Name));
    std::string Why;
    if (Error E = FunctionLifter(Known, Lines, F, From).run())
      Why = toString(std::move(E));
    else if (raw_string_ostream Message(Why); !verifyFunction(F, &Message))
      Why.clear();
    if (!Why.empty())
      keep(From, Why);
  }

  void keep(const ptx::Function &Of, const Twine &Why) {
    Function &F = *Code->getFunction(str(Of.Name));
    F.deleteBody();
    F.setSubprogram(nullptr);
    F.setLinkage(GlobalValue::ExternalLinkage);
    Kept.push_back({&Of, Why.str()});
  }

  bool isKept(const ptx::Function &F) const {
    return any_of(Kept, [&](const KeptFunction &K) { return K.Of == &F; });
  }

  /// LLVM may print the parameters of an internal function in another way than
  /// the kept caller has them.
  void keepCallees() {
    for (size_t I = 0; I < Kept.size(); ++I) {
      const NamesIn Names(*Kept[I].Of);
      for (const ptx::Function *F : Defined)
        if (Names.All.contains(str(F->Name)) && !isKept(*F))
          keep(*F, "called by '" + str(Kept[I].Of->Name) +
                       "', which is not lifted");
    }
  }

  void keepVariables() {
    SmallVector<GlobalValue *> Used;
    for (const KeptFunction &K : Kept) {
      const NamesIn Names(*K.Of);
      for (GlobalVariable &G : Code->globals())
        if (Names.All.contains(G.getName())) {
          Used.push_back(&G);
          // LLVM would move it into the one lifted function that uses it.
          if (G.hasLocalLinkage() &&
              G.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED)
            G.setLinkage(GlobalValue::ExternalLinkage);
        }
    }
    if (!Used.empty())
      appendToCompilerUsed(*Code, Used);
  }

  const ptx::Module &From;
  std::unique_ptr<Module> Code;
  Symbols Known;
  std::vector<const ptx::Function *> Defined;
  std::vector<KeptFunction> Kept;
};

} // namespace

Expected<LiftedModule> liftModule(const ptx::Module &From, LLVMContext &C) {
  return ModuleLifter(From, C).run();
}

} // namespace crsan::lift

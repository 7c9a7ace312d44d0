// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many registers kernels may use.

#include "Registers.h"
#include "PTX/Lexer.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using crsan::ptx::Token;

namespace crsan::assembler {

/// Registers are given to a warp in units of so many a thread.
static constexpr unsigned Unit = 8;

/// The product of the numbers that follow a directive; 0 if it is not there.
static unsigned numbersBehind(StringRef Signature, StringRef Directive) {
  ptx::Lexer Lex(Signature, /*IsInline=*/false);
  Token Tok = Lex.next();
  while (!Tok.is(Token::Kind::End) && !Tok.isDotted(Directive))
    Tok = Lex.next();
  if (Tok.is(Token::Kind::End))
    return 0;
  unsigned Product = 1;
  do {
    Tok = Lex.next();
    if (!Tok.is(Token::Kind::Integer))
      return 0;
    Product *= ptx::integerValue(Tok.Text).value_or(0);
    Tok = Lex.next();
  } while (Tok.is(','));
  return Product;
}

unsigned EntryBounds::registersThatFit() const {
  constexpr unsigned Registers = 65536, Warp = 32;
  unsigned Fit = MaxRegisters;
  if (MaxThreads) {
    const unsigned Threads =
        alignTo(MaxThreads, Warp) * std::max(MinBlocks, 1u);
    const unsigned Each = alignDown(Registers / Threads, Unit);
    Fit = Fit ? std::min(Fit, Each) : Each;
  }
  return Fit;
}

std::vector<EntryBounds> entryBounds(ArrayRef<ModuleItem> Module) {
  std::vector<EntryBounds> Bounds;
  for (const ModuleItem &Item : Module)
    if (Item.definesKernel())
      Bounds.push_back({Item.Name.str(),
                        std::max(numbersBehind(Item.Signature, ".maxntid"),
                                 numbersBehind(Item.Signature, ".reqntid")),
                        numbersBehind(Item.Signature, ".minnctapersm"),
                        numbersBehind(Item.Signature, ".maxnreg")});
  return Bounds;
}

RegisterLimits registerLimits(ArrayRef<ModuleItem> Module,
                              const KernelRegisters &ByTwin,
                              const RegisterNeeds &Needs, unsigned Most) {
  const unsigned Usual = usualLimit(Most);
  RegisterLimits Limits = {{}, Usual};
  for (const EntryBounds &Kernel : entryBounds(Module)) {
    const unsigned Fit = Kernel.registersThatFit();
    if (abi::isNativeTwin(Kernel.Name)) {
      const std::string Twinned(abi::nameOfTwinned(Kernel.Name));
      unsigned Limit = Most;
      // A limit below Usual might be too low for a function that is called.
      if (const auto Native = ByTwin.find(Twinned); Native != ByTwin.end())
        Limit = std::min(Limit, Needs.Many.contains(Twinned)
                                    ? std::max(Native->second, Usual)
                                    : Native->second);
      else if (Needs.Few.contains(Twinned))
        Limit = std::min(Limit, FullResidency);
      if (!Fit || Limit < Fit)
        Limits.Kernels[Kernel.Name] = Limit;
      continue;
    }
    // A kernel that needs few calls no functions but the runtime's, so its
    // limit is none for the program's functions.
    if (Needs.Few.contains(Kernel.Name)) {
      Limits.Kernels[Kernel.Name] = std::min(Fit ? Fit : Most, FullResidency);
      continue;
    }
    unsigned Limit = Fit ? Fit : Usual;
    if (const auto Native = ByTwin.find(Kernel.Name); Native != ByTwin.end()) {
      if (!Needs.Many.contains(Kernel.Name))
        Limit = std::min(Limit, Native->second);
      // A twin may take a few more registers than the kernel that the user's
      // compiler would have made, of which a block may have 1,024 threads.
      else if (Native->second > LargestBlock + Unit)
        Limit = std::min(Most, Native->second);
    }
    if (Limit != Fit)
      Limits.Kernels[Kernel.Name] = Limit;
    Limits.Functions = std::min(Limits.Functions, Limit);
  }
  Limits.Functions = std::max(Limits.Functions, FullResidency);
  return Limits;
}

std::string limitRegisters(StringRef PTX, ArrayRef<ModuleItem> Module,
                           const KernelRegisters &Limits) {
  std::string Limited;
  const char *Done = PTX.begin();
  for (const ModuleItem &Item : Module) {
    if (!Item.definesKernel() || numbersBehind(Item.Signature, ".maxnreg"))
      continue;
    const auto Limit = Limits.find(Item.Name.str());
    if (Limit == Limits.end())
      continue;
    Limited.append(Done, Item.Signature.end());
    Limited += "\n.maxnreg " + utostr(Limit->second) + "\n";
    Done = Item.Signature.end();
  }
  return Limited.append(Done, PTX.end());
}

KernelRegisters usedRegisters(StringRef PtxasOutput) {
  KernelRegisters Registers;
  StringRef Kernel;
  for (StringRef Line : split(PtxasOutput, '\n')) {
    if (const auto [_, Entry] = Line.split("Compiling entry function '");
        !Entry.empty())
      Kernel = Entry.split('\'').first;
    auto [_, Used] = Line.split(": Used ");
    unsigned Number;
    if (!Kernel.empty() && !Used.consumeInteger(10, Number)) {
      Registers[Kernel.str()] = Number;
      Kernel = {};
    }
  }
  return Registers;
}

unsigned limitByTwin(unsigned Used) {
  return std::max<unsigned>(FullResidency, alignTo(Used, Unit));
}

} // namespace crsan::assembler

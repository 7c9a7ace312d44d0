//===- Classify.cpp - What inline PTX does --------------------------------===//
//
// Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PTX/Classify.h"
#include "PTX/Parser.h"

#include <algorithm>
#include <unordered_map>

namespace crsan::ptx {

namespace {

bool hasAny(const Instruction &I,
            std::initializer_list<std::string_view> Modifiers) {
  return std::ranges::any_of(Modifiers,
                             [&](std::string_view M) { return I.has(M); });
}

bool firstIs(const Instruction &I, std::string_view Modifier) {
  return !I.Modifiers.empty() && I.Modifiers.front() == Modifier;
}

/// Opcodes whose modifiers do not matter.
const std::unordered_map<std::string_view, Category> &simpleOpcodes() {
  static const auto *Table = [] {
    auto *T = new std::unordered_map<std::string_view, Category>;
    auto Add = [T](Category What, std::initializer_list<const char *> Names) {
      for (const char *Name : Names)
        T->emplace(Name, What);
    };
    Add(Category::Harmless,
        {// Integers.
         "abs", "add", "addc", "bfe", "bfi", "bfind", "bmsk", "brev", "clz",
         "cnot", "div", "dp2a", "dp4a", "fns", "mad", "mad24", "madc", "max",
         "min", "mul", "mul24", "neg", "popc", "rem", "sad", "sub", "subc",
         "szext",
         // Floating point.
         "copysign", "cos", "ex2", "fma", "lg2", "rcp", "rsqrt", "sin", "sqrt",
         "tanh", "testp",
         // Comparison, logic, moves and conversions.
         "and", "cvt", "lop3", "mov", "not", "or", "prmt", "selp", "set",
         "setp", "shf", "shl", "shr", "slct", "xor",
         // Video.
         "vabsdiff", "vabsdiff2", "vabsdiff4", "vadd", "vadd2", "vadd4",
         "vavrg2", "vavrg4", "vmad", "vmax", "vmax2", "vmax4", "vmin", "vmin2",
         "vmin4", "vset", "vset2", "vset4", "vshl", "vshr", "vsub", "vsub2",
         "vsub4",
         // Addresses and caches: of what memory holds nothing is read or
         // written.
         "applypriority", "createpolicy", "cvta", "getctarank", "isspacep",
         "mapa", "prefetch", "prefetchu",
         // Time.
         "nanosleep", "pmevent"});
    Add(Category::Synchronisation, {"bar", "barrier", "fence", "griddepcontrol",
                                    "mbarrier", "membar", "setmaxnreg"});
    Add(Category::Convergent, {"activemask", "elect", "match", "mma",
                               "movmatrix", "redux", "shfl", "vote"});
    Add(Category::ControlFlow,
        {"bra", "brkpt", "brx", "call", "exit", "ret", "trap"});
    return T;
  }();
  return *Table;
}

StateSpace spaceOf(const Instruction &I) {
  for (std::string_view M : I.Modifiers) {
    const std::string_view Word = M.substr(0, M.find("::"));
    if (Word == "global")
      return StateSpace::Global;
    if (Word == "shared")
      return StateSpace::Shared;
    if (Word == "local")
      return StateSpace::Local;
    if (Word == "param")
      return StateSpace::Param;
    if (Word == "const")
      return StateSpace::Const;
  }
  return StateSpace::Generic;
}

/// Fills in what is accessed.
InstructionClass access(const Instruction &I, Category What, bool IsRead,
                        bool IsWrite) {
  InstructionClass C;
  C.What = What;
  C.IsRead = IsRead;
  C.IsWrite = IsWrite;
  C.Space = spaceOf(I);
  C.Type = I.type();
  C.Size = sizeOf(C.Type);
  if (I.has("v2"))
    C.Size *= 2;
  else if (I.has("v4"))
    C.Size *= 4;
  else if (I.has("v8"))
    C.Size *= 8;
  for (const Operand &Op : I.Operands)
    if (Op.What == Operand::Kind::Address) {
      C.Address = &Op;
      break;
    }
  return C;
}

InstructionClass classifyLoadOrStore(const Instruction &I, bool IsStore) {
  if (firstIs(I, "async") || firstIs(I, "bulk"))
    return {Category::AsyncCopy};
  const bool IsStrong =
      hasAny(I, {"volatile", "relaxed", "acquire", "release", "mmio", "sc"});
  return access(I, IsStrong ? Category::StrongAccess : Category::WeakAccess,
                !IsStore, IsStore);
}

/// cp.async...: the copies, and what waits for them or says when they end.
Category classifyCopy(const Instruction &I) {
  const bool Orders =
      hasAny(I, {"commit_group", "wait_group", "wait_all", "mbarrier"});
  if (!I.has("async"))
    return Category::Unknown;
  return Orders ? Category::Synchronisation : Category::AsyncCopy;
}

InstructionClass classifyMatrix(const Instruction &I) {
  if (I.Opcode == "ldmatrix" || firstIs(I, "load"))
    return access(I, Category::MatrixAccess, true, false);
  if (I.Opcode == "stmatrix" || firstIs(I, "store"))
    return access(I, Category::MatrixAccess, false, true);
  return {firstIs(I, "mma") ? Category::Convergent : Category::Unknown};
}

/// wgmma and tcgen05: matrices that are read while the threads go on.
Category classifyTensor(const Instruction &I) {
  if (hasAny(I, {"mma_async", "mma", "ld", "st", "cp", "shift"}))
    return Category::AsyncCopy;
  if (hasAny(I,
             {"fence", "fence::before_thread_sync", "fence::after_thread_sync",
              "commit_group", "wait_group", "commit", "wait::ld", "wait::st",
              "wait", "alloc", "dealloc", "relinquish_alloc_permit"}))
    return Category::Synchronisation;
  return Category::Unknown;
}

bool isPrivate(StateSpace Space) {
  return Space == StateSpace::Local || Space == StateSpace::Param ||
         Space == StateSpace::Const;
}

void add(BodyClass &Sum, const InstructionClass &C) {
  switch (C.What) {
  case Category::Harmless:
    return;
  case Category::WeakAccess:
    Sum.AccessesMemory = true;
    Sum.AccessesWeakly |= !isPrivate(C.Space);
    return;
  case Category::MatrixAccess:
  case Category::AsyncCopy:
  case Category::Unknown:
    Sum.AccessesWeakly = true;
    [[fallthrough]];
  case Category::StrongAccess:
    Sum.AccessesMemory = true;
    [[fallthrough]];
  case Category::Synchronisation:
  case Category::Convergent:
  case Category::ControlFlow:
    Sum.KeepsWindow = false;
    return;
  }
}

void add(BodyClass &Sum, const Block &B) {
  for (const Statement &S : B.Statements) {
    if (const auto *I = std::get_if<Instruction>(&S))
      add(Sum, classify(*I));
    else if (const auto *Inner = std::get_if<std::unique_ptr<Block>>(&S))
      add(Sum, **Inner);
    else if (std::holds_alternative<Label>(S))
      Sum.KeepsWindow = false; // Somebody may branch to it, even back.
    else if (const auto *D = std::get_if<Directive>(&S))
      Sum.KeepsWindow &= D->Name == ".pragma";
  }
}

} // namespace

InstructionClass classify(const Instruction &I) {
  const std::string_view Opcode = I.Opcode;
  // A modifier that is an operand of the statement may be anything.
  for (std::string_view Modifier : I.Modifiers)
    if (Modifier.find('$') != Modifier.npos)
      return {};
  if (auto It = simpleOpcodes().find(Opcode); It != simpleOpcodes().end())
    return {It->second};
  if (Opcode == "ld" || Opcode == "ldu")
    return classifyLoadOrStore(I, /*IsStore=*/false);
  if (Opcode == "st")
    return classifyLoadOrStore(I, /*IsStore=*/true);
  if (Opcode == "atom" || Opcode == "red") {
    if (firstIs(I, "async"))
      return {Category::AsyncCopy};
    return access(I, Category::StrongAccess, true, true);
  }
  if (Opcode == "cp")
    return {classifyCopy(I)};
  if (Opcode == "ldmatrix" || Opcode == "stmatrix" || Opcode == "wmma")
    return classifyMatrix(I);
  if (Opcode == "wgmma" || Opcode == "tcgen05")
    return {classifyTensor(I)};
  // Not `discard` as the weak write that it is: what it leaves is unstable, so
  // two reads may differ though nobody writes.
  return {};
}

BodyClass classify(const Block &Body) {
  BodyClass Sum;
  add(Sum, Body);
  return Sum;
}

BodyClass classifyInline(std::string_view Assembly) {
  auto Result = parseInline(std::string(Assembly));
  if (const auto *I = std::get_if<InlineBody>(&Result))
    return classify(I->Body);
  BodyClass Sum;
  add(Sum, InstructionClass());
  return Sum;
}

} // namespace crsan::ptx

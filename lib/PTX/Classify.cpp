// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What inline PTX does.

#include "PTX/Classify.h"

#include <algorithm>
#include <charconv>
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
         // Addresses and caches: the contents of memory are neither read nor
         // written.
         "applypriority", "createpolicy", "cvta", "getctarank", "isspacep",
         "mapa", "prefetch", "prefetchu",
         // Queries of a texture's properties.
         "istypep", "suq", "txq",
         // Time.
         "nanosleep", "pmevent"});
    Add(Category::TextureAccess, {"suld", "sured", "sust", "tex", "tld4"});
    Add(Category::Synchronisation, {"griddepcontrol", "setmaxnreg"});
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
    const StateSpace Space = parseStateSpace(M.substr(0, M.find("::")));
    if (Space != StateSpace::None)
      return Space;
  }
  return StateSpace::Generic;
}

const Operand *addressIn(const Instruction &I) {
  for (const Operand &Op : I.Operands)
    if (Op.What == Operand::Kind::Address)
      return &Op;
  return nullptr;
}

/// Fills in which memory is accessed.
InstructionClass access(const Instruction &I, Category What, uint8_t Flags) {
  InstructionClass C;
  C.What = What;
  C.Flags = Flags;
  C.Space = spaceOf(I);
  C.Type = I.type();
  C.Size = sizeOf(C.Type);
  if (I.has("v2"))
    C.Size *= 2;
  else if (I.has("v4"))
    C.Size *= 4;
  else if (I.has("v8"))
    C.Size *= 8;
  C.Address = addressIn(I);
  return C;
}

/// The first scope that is written. NVVM's intrinsics may name a state space as
/// well (`space.cta.scope.cluster`); then a word says which is the scope.
std::optional<abi::Scope> scopeOf(const Instruction &I) {
  const auto Named = std::ranges::find(I.Modifiers, "scope");
  for (auto It = Named == I.Modifiers.end() ? I.Modifiers.begin() : Named;
       It != I.Modifiers.end(); ++It) {
    const std::string_view M = *It;
    if (M == "cta")
      return abi::Scope::Block;
    if (M == "cluster")
      return abi::Scope::Cluster;
    if (M == "gpu" || M == "gl")
      return abi::Scope::Device;
    if (M == "sys")
      return abi::Scope::System;
  }
  return std::nullopt;
}

abi::MemoryOrder orderOf(const Instruction &I) {
  if (I.has("acquire"))
    return abi::MemoryOrder::Acquire;
  if (I.has("release"))
    return abi::MemoryOrder::Release;
  if (I.has("acq_rel"))
    return abi::MemoryOrder::AcquireRelease;
  return abi::MemoryOrder::Relaxed;
}

/// A strong access; `Default` is the scope where none is written.
InstructionClass strongAccess(const Instruction &I, uint8_t Flags,
                              abi::Scope Default) {
  InstructionClass C = access(I, Category::StrongAccess, Flags | abi::IsStrong);
  C.Order = orderOf(I);
  C.Scope = scopeOf(I).value_or(Default);
  return C;
}

/// `Flags`: what the instruction does, ReadsMemory or WritesMemory.
InstructionClass classifyLoadOrStore(const Instruction &I, uint8_t Flags) {
  if (firstIs(I, "async") || firstIs(I, "bulk"))
    return access(I, Category::AsyncCopy, Flags);
  if (hasAny(I, {"volatile", "relaxed", "acquire", "release", "mmio", "sc"})) {
    InstructionClass C = strongAccess(I, Flags, abi::Scope::System);
    C.IsVolatile = I.has("volatile");
    return C;
  }
  return access(I, Category::WeakAccess, Flags);
}

InstructionClass classifyAtomic(const Instruction &I) {
  if (firstIs(I, "async"))
    return access(I, Category::AsyncCopy, abi::AtomicUpdate);
  return strongAccess(I,
                      abi::ReadsMemory | abi::WritesMemory | abi::IsAtomic |
                          (I.has("cas") ? abi::IsSwap : 0),
                      abi::Scope::Device);
}

/// Of an arrival at a barrier, or of a wait there.
abi::MemoryOrder orderAtBarrier(const Instruction &I, bool IsArrival) {
  return I.has("relaxed") ? abi::MemoryOrder::Relaxed
         : IsArrival      ? abi::MemoryOrder::Release
                          : abi::MemoryOrder::Acquire;
}

/// bar, barrier: of a warp, a block, some of its threads, or a cluster.
InstructionClass classifyBarrier(const Instruction &I) {
  InstructionClass C = {Category::Synchronisation};
  auto At = [&](size_t Index) {
    return Index < I.Operands.size() ? &I.Operands[Index] : nullptr;
  };
  C.Scope = abi::Scope::Block;
  if (I.has("warp")) {
    C.Orders = Ordering::WarpBarrier;
    C.Object = At(0);
  } else if (I.has("cluster")) {
    C.Orders =
        I.has("arrive") ? Ordering::ClusterArrival : Ordering::ClusterWait;
    C.Order = orderAtBarrier(I, I.has("arrive"));
    C.Scope = abi::Scope::Cluster;
  } else {
    // A reduction has its result in front and its predicate behind.
    const bool IsReduction = I.has("red");
    const bool Counts =
        I.has("count") || I.Operands.size() > (IsReduction ? 3 : 1);
    C.Object = At(IsReduction ? 1 : 0);
    C.IsNumbered = true;
    C.Orders = I.has("arrive") ? Ordering::Arrival
               : Counts        ? Ordering::ArrivalAndWait
                               : Ordering::BlockBarrier;
  }
  return C;
}

InstructionClass classifyMbarrier(const Instruction &I) {
  InstructionClass C = {Category::Synchronisation};
  C.Scope = scopeOf(I).value_or(abi::Scope::Block);
  C.Object = addressIn(I);
  if (hasAny(I, {"test_wait", "try_wait", "wait"}))
    C.Orders = Ordering::Wait;
  else if (hasAny(I, {"arrive", "arrive_drop"}))
    C.Orders = Ordering::Arrival;
  if (C.Orders != Ordering::None)
    C.Order = orderAtBarrier(I, C.Orders == Ordering::Arrival);
  return C;
}

InstructionClass classifyAnnotation(const Instruction &I, Annotation What) {
  if (What != Annotation::HappensBefore && What != Annotation::HappensAfter)
    return {Category::Harmless}; // The pass knows the function as exempt.
  const bool IsArrival = What == Annotation::HappensBefore;
  InstructionClass C = {Category::Synchronisation};
  C.Orders = IsArrival ? Ordering::Arrival : Ordering::Wait;
  C.Order = orderAtBarrier(I, IsArrival);
  C.Object = &I.Operands[1];
  return C;
}

/// fence.proxy.async, .async.global, .async.shared::cta, or with an order
/// .async::generic.acquire; but not those of aliases and tensor maps. LLVM's
/// intrinsics have underscores where PTX has colons.
bool isAsyncProxyFence(const Instruction &I) {
  return I.has("proxy") &&
         std::ranges::any_of(I.Modifiers, [](std::string_view M) {
           return M.starts_with("async");
         });
}

/// Fences between the proxies of one thread order nothing between threads, and
/// fence.mbarrier_init nothing but the initialisation of mbarriers.
InstructionClass classifyFence(const Instruction &I) {
  InstructionClass C = {Category::Synchronisation};
  const auto Scope = scopeOf(I);
  const bool IsOfProxies = hasAny(I, {"proxy", "sync_restrict"}) && !Scope;
  C.Orders =
      IsOfProxies || I.has("mbarrier_init") ? Ordering::None : Ordering::Fence;
  C.Scope = Scope.value_or(abi::Scope::System);
  C.IsProxyFence = isAsyncProxyFence(I);
  return C;
}

/// cp.async...: the copies, and what waits for them or says when they end. The
/// bulk ones and their reductions go through the asynchronous proxy. cp.async
/// itself, st.async, red.async and st.bulk go through the generic one, as do
/// all operations on mbarriers.
InstructionClass classifyCopy(const Instruction &I) {
  if (!I.has("async"))
    return {};
  // A prefetch into a cache: the contents of memory are neither read nor
  // written.
  if (I.has("prefetch"))
    return {Category::Harmless};
  InstructionClass C = {Category::Synchronisation};
  if (I.has("mbarrier") && I.has("arrive")) {
    C = classifyMbarrier(I);
    C.Orders = Ordering::CopyArrival;
    return C;
  }
  const bool Commits = hasAny(I, {"commit_group", "commit"});
  if (!Commits && !hasAny(I, {"wait_group", "wait_all", "wait"})) {
    C.What = Category::AsyncCopy;
    C.IsByAsyncProxy = I.has("bulk");
    return C;
  }
  C.Orders = Commits ? Ordering::CopyCommit : Ordering::CopyWait;
  C.Object = Commits || I.Operands.empty() ? nullptr : &I.Operands[0];
  C.IsBulk = I.has("bulk");
  C.OnlyReads = I.has("read");
  return C;
}

/// The rows of ldmatrix and stmatrix.
MatrixRows rowsOfLanes(const Instruction &I) {
  // Of other shapes, how many lanes give addresses is not listed here.
  if (!I.has("m8n8"))
    return {};
  const uint32_t Matrices = I.has("x4") ? 4 : I.has("x2") ? 2 : 1;
  return {8 * Matrices, 16, 16, I.has("trans")};
}

/// Bits of a matrix's element.
uint32_t bitsOfElement(const Instruction &I) {
  if (hasAny(I, {"s4", "u4"}))
    return 4;
  return I.has("b1") ? 1 : 8 * sizeOf(I.type());
}

/// The rows of wmma.load and wmma.store, of shape mMnNkK.
MatrixRows rowsOfShape(const Instruction &I) {
  struct Shape {
    const char *Name;
    uint32_t M, N, K;
  };
  constexpr Shape Shapes[] = {
      {"m16n16k16", 16, 16, 16}, {"m32n8k16", 32, 8, 16},
      {"m8n32k16", 8, 32, 16},   {"m8n8k4", 8, 8, 4},
      {"m16n16k8", 16, 16, 8},   {"m8n8k32", 8, 8, 32},
      {"m8n8k128", 8, 8, 128}};
  const auto *Of = std::ranges::find_if(
      Shapes, [&](const Shape &S) { return I.has(S.Name); });
  const uint32_t Bits = bitsOfElement(I);
  if (Of == std::end(Shapes) || Bits == 0 || I.has("row") == I.has("col"))
    return {};
  const uint32_t Height = I.has("b") ? Of->K : Of->M;
  const uint32_t Width = I.has("a") ? Of->K : Of->N;
  const uint32_t Rows = I.has("row") ? Height : Width;
  return {Rows, (I.has("row") ? Width : Height) * Bits / 8, Bits, false, true};
}

InstructionClass classifyMatrix(const Instruction &I) {
  // Where an intrinsic's name has the shape first.
  const bool Loads = I.Opcode == "ldmatrix" || I.has("load");
  if (!Loads && I.Opcode != "stmatrix" && !I.has("store"))
    return {I.has("mma") ? Category::Convergent : Category::Unknown};
  InstructionClass C = access(I, Category::MatrixAccess,
                              Loads ? abi::ReadsMemory : abi::WritesMemory);
  C.Rows = I.Opcode == "wmma" ? rowsOfShape(I) : rowsOfLanes(I);
  return C;
}

/// wgmma: products of matrices in shared memory, which are read while the
/// threads go on, through the asynchronous proxy. An implicit fence between the
/// proxies follows their completion.
InstructionClass classifyProduct(const Instruction &I) {
  if (I.has("mma_async")) {
    InstructionClass C = {Category::AsyncCopy};
    C.IsByAsyncProxy = true;
    return C;
  }
  if (!hasAny(I, {"fence", "commit_group", "wait_group"}))
    return {};
  InstructionClass C = {Category::Synchronisation};
  C.IsProduct = true;
  if (I.has("commit_group"))
    C.Orders = Ordering::CopyCommit;
  else if (I.has("wait_group"))
    C.Orders = Ordering::CopyWait;
  C.IsProxyFence = C.Orders == Ordering::CopyWait;
  C.Object = C.Orders == Ordering::CopyWait && !I.Operands.empty()
                 ? &I.Operands[0]
                 : nullptr;
  return C;
}

/// tcgen05: products of matrices in tensor memory or in shared memory, which
/// are read while the threads go on.
InstructionClass classifyTensor(const Instruction &I) {
  const std::string_view What = I.Modifiers.empty() ? "" : I.Modifiers.front();
  // What accesses shared memory: `alloc` writes there what it has allocated.
  if (What == "mma" || What == "cp" || What == "alloc") {
    InstructionClass C = {Category::AsyncCopy};
    C.IsByAsyncProxy = What != "alloc";
    return C;
  }
  // Tensor memory is a state space of its own, of which nothing is followed.
  if (What == "ld" || What == "st" || What == "shift" ||
      What.starts_with("wait"))
    return {Category::Convergent};
  InstructionClass C = {Category::Synchronisation};
  if (What == "commit") {
    // An arrival at an mbarrier, once what the thread has begun is done.
    C.IsProxyFence = true;
    C.Orders = Ordering::Arrival;
    C.Order = abi::MemoryOrder::Release;
    C.Scope = abi::Scope::Cluster;
    C.Object = addressIn(I);
    return C;
  }
  const bool IsKnown = What == "dealloc" || What.starts_with("fence") ||
                       What.starts_with("relinq");
  return IsKnown ? C : InstructionClass();
}

} // namespace

uint32_t usedBytes(const Directive &D) {
  constexpr std::string_view Key = "used_bytes_mask";
  const size_t At = D.Name == ".pragma" ? D.Text.find(Key) : D.Text.npos;
  if (At == D.Text.npos)
    return AllBytes;
  std::string_view Number = D.Text.substr(At + Key.size());
  Number.remove_prefix(std::min(Number.find_first_not_of(' '), Number.size()));
  const bool IsHex = Number.starts_with("0x");
  if (IsHex)
    Number.remove_prefix(2);
  uint32_t Mask = AllBytes;
  std::from_chars(Number.data(), Number.data() + Number.size(), Mask,
                  IsHex ? 16 : 10);
  return Mask;
}

std::optional<Annotation> annotationOf(const Instruction &I) {
  if (I.Opcode != "mov" || I.Operands.size() != 2 ||
      !I.Operands[0].Text.starts_with("crsan_"))
    return std::nullopt;
  const std::string_view Name = I.Operands[0].Text.substr(6);
  if (Name == "happens_before")
    return Annotation::HappensBefore;
  if (Name == "happens_after")
    return Annotation::HappensAfter;
  if (Name == "benign_begin")
    return Annotation::BenignBegin;
  if (Name == "benign_end")
    return Annotation::BenignEnd;
  if (Name == "iteration")
    return Annotation::Iteration;
  return std::nullopt;
}

InstructionClass classify(const Instruction &I) {
  const std::string_view Opcode = I.Opcode;
  // A modifier that is an operand of the statement may be anything.
  for (std::string_view Modifier : I.Modifiers)
    if (Modifier.find('$') != Modifier.npos)
      return {};
  if (const auto What = annotationOf(I))
    return classifyAnnotation(I, *What);
  if (Opcode == "bar" || Opcode == "barrier")
    return classifyBarrier(I);
  if (Opcode == "mbarrier")
    return classifyMbarrier(I);
  if (Opcode == "fence" || Opcode == "membar")
    return classifyFence(I);
  if (auto It = simpleOpcodes().find(Opcode); It != simpleOpcodes().end()) {
    InstructionClass C = {It->second};
    // The grid that this one depends on, or a function's body.
    if (Opcode == "call" || (Opcode == "griddepcontrol" && I.has("wait")))
      C.Orders = Ordering::Other;
    return C;
  }
  if (Opcode == "ld" || Opcode == "ldu")
    return classifyLoadOrStore(I, abi::ReadsMemory);
  if (Opcode == "st")
    return classifyLoadOrStore(I, abi::WritesMemory);
  if (Opcode == "atom" || Opcode == "red")
    return classifyAtomic(I);
  if (Opcode == "cp")
    return classifyCopy(I);
  if (Opcode == "ldmatrix" || Opcode == "stmatrix" || Opcode == "wmma")
    return classifyMatrix(I);
  if (Opcode == "wgmma")
    return classifyProduct(I);
  if (Opcode == "tcgen05")
    return classifyTensor(I);
  if (Opcode == "clusterlaunchcontrol")
    return {I.has("try_cancel") ? Category::AsyncCopy : Category::Harmless};
  // `discard` is a weak write, but is not listed as one: it leaves an unstable
  // value, so that two reads may differ although no thread writes.
  return {};
}

} // namespace crsan::ptx

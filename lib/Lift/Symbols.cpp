// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variables and functions of a module.

#include "Symbols.h"
#include "Types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace crsan::lift {

namespace {

GlobalValue::LinkageTypes linkageOf(ptx::Variable::Linkage Link) {
  switch (Link) {
  case ptx::Variable::Linkage::Internal:
    return GlobalValue::InternalLinkage;
  case ptx::Variable::Linkage::Extern:
  case ptx::Variable::Linkage::Visible:
    return GlobalValue::ExternalLinkage;
  case ptx::Variable::Linkage::Weak:
    return GlobalValue::WeakAnyLinkage;
  case ptx::Variable::Linkage::Common:
    return GlobalValue::CommonLinkage;
  }
  llvm_unreachable("not a linkage");
}

/// Functions of CUDA's whose parameters and results are pointers: the pass
/// knows them by name and type.
struct KnownFunction {
  StringLiteral Name;
  bool ReturnsPointer;
  unsigned PointerParameters; ///< So many of the first.
};
constexpr KnownFunction KnownFunctions[] = {
    {"malloc", true, 0}, {"free", false, 1}, {"vprintf", false, 2}};

/// The numbers of a directive, such as `.maxntid 256, 1, 1`.
std::string numbersOf(const ptx::Directive &D) {
  std::string All;
  for (const ptx::Operand &Op : D.Operands)
    All += (All.empty() ? "" : ",") + std::to_string(Op.Bits);
  return All;
}

/// The attributes by which LLVM prints a kernel's directives.
void addDirectives(Function &To, const ptx::Function &F) {
  static constexpr std::pair<StringLiteral, StringLiteral> Known[] = {
      {".maxntid", "nvvm.maxntid"},
      {".reqntid", "nvvm.reqntid"},
      {".minnctapersm", "nvvm.minctasm"},
      {".maxnreg", "nvvm.maxnreg"},
      {".reqnctapercluster", "nvvm.cluster_dim"},
      {".maxclusterrank", "nvvm.maxclusterrank"},
      {".blocksareclusters", "nvvm.blocksareclusters"}};
  for (const ptx::Directive &D : F.Directives) {
    for (const auto &[Name, Attribute] : Known)
      if (Name == str(D.Name))
        To.addFnAttr(Attribute, numbersOf(D));
    if (D.Name == ".noreturn")
      To.addFnAttr(Attribute::NoReturn);
  }
}

/// The parameters of a kernel that are used as addresses. (A parameter that is
/// taken for one and is none has the same bits as before.)
class AddressParameters {
public:
  explicit AddressParameters(const ptx::Function &F) {
    for (const ptx::Variable &P : F.Parameters)
      if (P.IsPointer)
        Names.insert(str(P.Name));
    if (F.IsKernel && F.Body)
      read(*F.Body);
  }
  bool contains(const ptx::Variable &P) const {
    return P.Extents.empty() && ptx::sizeOf(P.Type) == 8 &&
           Names.contains(str(P.Name));
  }

private:
  void read(const ptx::Block &B) {
    for (const ptx::Statement &S : B.Statements)
      if (const auto *I = std::get_if<ptx::Instruction>(&S))
        read(*I);
      else if (const auto *Inner = std::get_if<std::unique_ptr<ptx::Block>>(&S))
        read(**Inner);
  }
  void read(const ptx::Instruction &I) {
    using Kind = ptx::Operand::Kind;
    const auto &Ops = I.Operands;
    if (I.Opcode == "ld" && I.has("param") && Ops.size() == 2 &&
        Ops[0].What == Kind::Name && Ops[1].Elements.size() == 1)
      LoadedFrom[str(Ops[0].Text)] = str(Ops[1].Elements[0].Text);
    else if (I.Opcode == "add" && ptx::sizeOf(I.type()) == 8 && Ops.size() == 3)
      add(Ops);
    else if (I.Opcode == "cvta" && Ops.size() == 2)
      use(Ops[1]);
    for (const ptx::Operand &Op : Ops)
      if (Op.What == Kind::Address && Op.Elements.size() == 1)
        use(Op.Elements[0]);
  }
  /// A sum has the base that one of its operands has; of two it is not known
  /// which is the index.
  void add(ArrayRef<ptx::Operand> Ops) {
    const auto L = LoadedFrom.find(str(Ops[1].Text));
    const auto R = LoadedFrom.find(str(Ops[2].Text));
    const bool HasL = L != LoadedFrom.end(), HasR = R != LoadedFrom.end();
    if (HasL != HasR) {
      const StringRef Base = (HasL ? L : R)->second;
      LoadedFrom[str(Ops[0].Text)] = Base;
    }
  }
  void use(const ptx::Operand &Op) {
    if (auto It = LoadedFrom.find(str(Op.Text)); It != LoadedFrom.end())
      Names.insert(It->second);
  }

  StringMap<StringRef> LoadedFrom; ///< By register, also of sums.
  StringSet<> Names;
};

} // namespace

Expected<FunctionType *> typeOf(LLVMContext &C, const ptx::Function &F) {
  if (F.Results.size() > 1)
    return fail("'", str(F.Name), "' has more than one result");
  Type *Result =
      F.Results.empty() ? Type::getVoidTy(C) : wholeType(C, F.Results.front());
  SmallVector<Type *, 8> Parameters;
  const AddressParameters Addresses(F);
  for (const ptx::Variable &P : F.Parameters) {
    if (!P.Extents.empty() && P.Extents.front() == 0)
      return fail("'", str(F.Name), "' has a variable number of parameters");
    Parameters.push_back(P.Extents.empty() && !Addresses.contains(P)
                             ? wholeType(C, P)
                             : PointerType::get(C, 0));
  }
  for (const KnownFunction &K : KnownFunctions)
    if (K.Name == str(F.Name)) {
      if (K.ReturnsPointer)
        Result = PointerType::get(C, 0);
      for (unsigned I = 0; I < K.PointerParameters && I < Parameters.size();
           ++I)
        Parameters[I] = PointerType::get(C, 0);
    }
  return FunctionType::get(Result, Parameters, /*isVarArg=*/false);
}

void addParameterAttributes(LLVMContext &C, const ptx::Function &F,
                            AttributeList &To) {
  for (const auto &[I, P] : enumerate(F.Parameters)) {
    if (P.Extents.empty())
      continue;
    AttrBuilder B(C);
    B.addByValAttr(wholeType(C, P));
    B.addAlignmentAttr(alignmentOf(P));
    // Nothing in PTX writes to a kernel's parameters.
    if (F.IsKernel)
      B.addAttribute("nvvm.grid_constant");
    To = To.addParamAttributes(C, I, B);
  }
}

Expected<GlobalVariable *> Symbols::addVariable(const ptx::Variable &V,
                                                bool IsLocal) {
  const StringRef Name = str(V.Name);
  if (ptx::sizeOf(V.Type) == 0 || V.Type == ptx::ScalarType::TexRef ||
      V.Type == ptx::ScalarType::SamplerRef ||
      V.Type == ptx::ScalarType::SurfRef)
    return fail("'", Name, "' is a texture or surface reference");
  if (addressSpace(V.Space) == NVPTXAS::ADDRESS_SPACE_GENERIC ||
      V.Space == ptx::StateSpace::Local)
    return fail("'", Name,
                "' is in a state space that variables of a module "
                "cannot be in");
  const bool IsDeclared = V.Link == ptx::Variable::Linkage::Extern;
  auto *G =
      new GlobalVariable(M, wholeType(M.getContext(), V), /*isConstant=*/false,
                         linkageOf(V.Link), nullptr, Name, nullptr,
                         GlobalValue::NotThreadLocal, addressSpace(V.Space));
  G->setAlignment(alignmentOf(V));
  if (!IsDeclared)
    ToInitialise.emplace_back(G, &V);
  // The host may write it before each launch.
  if (!IsDeclared && V.Space != ptx::StateSpace::Shared)
    G->setExternallyInitialized(true);
  for (std::string_view Attribute : V.Attributes)
    if (Attribute.starts_with("managed"))
      M.getOrInsertNamedMetadata("nvvm.annotations")
          ->addOperand(MDNode::get(
              M.getContext(), {ConstantAsMetadata::get(G),
                               MDString::get(M.getContext(), "managed"),
                               ConstantAsMetadata::get(ConstantInt::get(
                                   Type::getInt32Ty(M.getContext()), 1))}));
    else
      return fail("'", Name, "' has the attribute '", str(Attribute), "'");
  if (!IsLocal)
    Known[Name] = G;
  return G;
}

Expected<Function *> Symbols::addFunction(const ptx::Function &F) {
  LLVMContext &C = M.getContext();
  Expected<FunctionType *> T = typeOf(C, F);
  if (!T)
    return T.takeError();
  if (GlobalValue *Declared = Known.lookup(str(F.Name))) {
    // A definition behind a declaration.
    auto *Before = dyn_cast<Function>(Declared);
    if (!Before || Before->getFunctionType() != *T)
      return fail("'", str(F.Name), "' is declared in two ways");
    if (F.Body || F.Link != ptx::Variable::Linkage::Extern)
      Before->setLinkage(linkageOf(F.Link));
    return Before;
  }
  auto *New = Function::Create(*T, linkageOf(F.Link), str(F.Name), M);
  if (F.IsKernel)
    New->setCallingConv(CallingConv::PTX_Kernel);
  AttributeList Attributes = New->getAttributes();
  addParameterAttributes(C, F, Attributes);
  New->setAttributes(Attributes);
  New->addFnAttr(Attribute::Convergent);
  New->addFnAttr(Attribute::NoUnwind);
  // Checks are no reason to inline or to clone what the compiler did not.
  New->addFnAttr(Attribute::NoInline);
  addDirectives(*New, F);
  Known[str(F.Name)] = New;
  return New;
}

/// The value of one element: a number, or the address of a variable or
/// function.
Expected<Constant *> Symbols::valueOf(const ptx::Operand &Op, IntegerType *T) {
  using Kind = ptx::Operand::Kind;
  if (Op.What == Kind::Integer || Op.What == Kind::Float)
    return ConstantInt::get(T, Op.Bits, /*IsSigned=*/false,
                            /*ImplicitTrunc=*/true);
  const bool IsGeneric = Op.What == Kind::Symbols;
  const ptx::Operand &Of = IsGeneric ? Op.Elements.at(0) : Op;
  GlobalValue *G = Known.lookup(str(Of.Text));
  if (!G || !Op.Elements.empty() != IsGeneric || T->getBitWidth() != 64)
    return fail("an initialiser with '", str(Op.Text), "'");
  Constant *Address = G;
  if (IsGeneric)
    Address =
        ConstantExpr::getAddrSpaceCast(G, PointerType::get(M.getContext(), 0));
  if (Op.Bits)
    Address = ConstantExpr::getGetElementPtr(
        Type::getInt8Ty(M.getContext()), Address,
        ConstantInt::get(Type::getInt64Ty(M.getContext()), Op.Bits));
  return ConstantExpr::getPtrToInt(Address, T);
}

/// The elements of an initialiser in a flat list.
static void flatten(const std::vector<ptx::Operand> &From,
                    SmallVectorImpl<const ptx::Operand *> &To) {
  for (const ptx::Operand &Op : From)
    if (Op.What == ptx::Operand::Kind::Vector)
      flatten(Op.Elements, To);
    else
      To.push_back(&Op);
}

Expected<Constant *> Symbols::valueOf(const ptx::Variable &V, Type *T) {
  if (V.Space == ptx::StateSpace::Shared)
    return UndefValue::get(T);
  SmallVector<const ptx::Operand *> All;
  flatten(V.Initialiser, All);
  if (All.empty())
    return Constant::getNullValue(T);
  auto *Array = dyn_cast<ArrayType>(T);
  auto *Element = cast<IntegerType>(Array ? Array->getElementType() : T);
  const size_t Number = Array ? Array->getNumElements() : 1;
  if (All.size() > Number)
    return fail("'", str(V.Name), "' has more values than elements");
  SmallVector<Constant *> Values;
  for (const ptx::Operand *Op : All) {
    Expected<Constant *> Value = valueOf(*Op, Element);
    if (!Value)
      return Value.takeError();
    Values.push_back(*Value);
  }
  if (!Array)
    return Values.front();
  Values.resize(Number, Constant::getNullValue(Element));
  return ConstantArray::get(Array, Values);
}

Error Symbols::initialise() {
  for (const auto &[G, V] : ToInitialise) {
    Expected<Constant *> Value = valueOf(*V, G->getValueType());
    if (!Value)
      return Value.takeError();
    G->setInitializer(*Value);
  }
  ToInitialise.clear();
  return Error::success();
}

} // namespace crsan::lift

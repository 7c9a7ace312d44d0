// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A large module, compiled by several processes.
//
// LLVM's code generator takes most of the time, and works on one function after
// the other. LLVM's data cannot be shared between threads; processes have
// copies. The first share has all that is not a kernel.

#include "Shares.h"
#include "Assembler/ModuleItems.h"
#include "Events/Operands.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/CrashRecoveryContext.h"
#include "llvm/Support/NVPTXAddrSpace.h"
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <numeric>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;
using crsan::assembler::ModuleItem;

namespace crsan::lift {

namespace {

constexpr unsigned NumShares = 8;
/// A module of fewer instructions is not worth the processes.
constexpr unsigned LeastInstructions = 40000;

using Functions = SmallPtrSet<const Function *, 16>;

/// The functions that use a constant, by whatever expressions.
void collectUsers(const Constant &C, Functions &Users) {
  for (const User *U : C.users())
    if (const auto *I = dyn_cast<Instruction>(U))
      Users.insert(I->getFunction());
    else if (!isa<GlobalValue>(U))
      collectUsers(cast<Constant>(*U), Users);
}

bool isOwnShared(const GlobalVariable &V) {
  return V.hasLocalLinkage() &&
         V.getAddressSpace() == NVPTXAS::ADDRESS_SPACE_SHARED;
}

/// Kernels that have to be in one share, and how much there is to compile.
struct Inseparable {
  SmallVector<const Function *, 2> Kernels;
  unsigned Size = 0;
  bool IsInFirst = false; ///< They belong to functions that are no kernels.
};

/// The kernels of the module. The code generator declares a shared variable
/// that one function alone uses within that function: all that use a variable
/// have to be in one share.
std::vector<Inseparable> kernelsOf(const Module &M) {
  EquivalenceClasses<const Function *> Together;
  for (const Function &F : M)
    if (!F.isDeclaration())
      Together.insert(&F);
  for (const GlobalVariable &V : M.globals())
    if (isOwnShared(V)) {
      Functions Users;
      collectUsers(V, Users);
      for (const Function *F : Users)
        Together.unionSets(*Users.begin(), F);
    }
  MapVector<const Function *, Inseparable> All;
  for (const Function &F : M) {
    if (F.isDeclaration())
      continue;
    Inseparable &Class = All[Together.getLeaderValue(&F)];
    if (isKernel(F)) {
      Class.Kernels.push_back(&F);
      Class.Size += F.getInstructionCount();
    } else
      Class.IsInFirst = true;
  }
  std::vector<Inseparable> Found;
  for (auto &[Leader, Class] : All)
    if (!Class.Kernels.empty())
      Found.push_back(std::move(Class));
  return Found;
}

/// Whether the function has uses that are no calls. The code generator passes
/// structures in another way to local functions without such uses, and a share
/// has only its own kernels' uses.
bool hasOtherUses(const Function &F) {
  return F.hasLocalLinkage() && any_of(F.uses(), [](const Use &U) {
           const auto *Call = dyn_cast<CallBase>(U.getUser());
           return !Call || !Call->isCallee(&U);
         });
}

/// The kernels of each share, of about as many instructions; none if the
/// kernels cannot be told apart.
std::optional<std::array<Functions, NumShares>>
sharesOf(Module &M, function_ref<bool(const Function &)> MayLeaveOut) {
  for (const DICompileUnit *Unit : M.debug_compile_units())
    if (Unit->getEmissionKind() == DICompileUnit::FullDebug)
      return std::nullopt; // Its sections describe all functions.
  std::array<unsigned, NumShares> Sizes = {};
  for (const Function &F : M) {
    if (isKernel(F) ? !F.use_empty() : !MayLeaveOut(F) && hasOtherUses(F))
      return std::nullopt;
    if (!isKernel(F))
      Sizes[0] += F.getInstructionCount();
  }
  std::vector<Inseparable> All = kernelsOf(M);
  // The largest first; of equal ones the first of the module.
  std::vector<size_t> Order(All.size());
  std::iota(Order.begin(), Order.end(), 0);
  llvm::sort(Order, [&](size_t A, size_t B) {
    return std::pair(All[B].Size, A) < std::pair(All[A].Size, B);
  });
  std::array<Functions, NumShares> Shares;
  for (size_t I : Order) {
    const auto To = All[I].IsInFirst ? Sizes.begin() : llvm::min_element(Sizes);
    *To += All[I].Size;
    Shares[To - Sizes.begin()].insert_range(All[I].Kernels);
  }
  return Shares;
}

/// Leaves of the module what share `Number` has.
void reduceTo(Module &M, unsigned Number, const Functions &Share,
              function_ref<bool(const Function &)> MayLeaveOut) {
  for (Function &F : make_early_inc_range(M)) {
    if (F.isDeclaration())
      continue;
    if (isKernel(F) && !Share.contains(&F))
      F.eraseFromParent();
    else if (Number != 0 && !isKernel(F) && MayLeaveOut(F))
      F.deleteBody();
  }
  // Variables of kernels that are gone.
  for (GlobalVariable &V : make_early_inc_range(M.globals()))
    if (isOwnShared(V)) {
      V.removeDeadConstantUsers();
      if (V.use_empty())
        V.eraseFromParent();
    }
}

/// A process that compiles a share.
struct Worker {
  pid_t Pid = -1;
  int Output = -1; ///< What it writes can be read here.
};

void writeAll(int To, StringRef Text) {
  while (!Text.empty()) {
    const ssize_t Written = write(To, Text.data(), Text.size());
    if (Written < 0 && errno != EINTR)
      _exit(1);
    Text = Text.drop_front(Written < 0 ? 0 : Written);
  }
}

/// Begins a process that writes what `Text` returns. No Pid: there is none.
Worker begin(LLVMContext &C, function_ref<std::string()> Text) {
  Worker W;
  int Pipe[2];
  if (pipe2(Pipe, O_CLOEXEC) != 0)
    return W;
  W.Output = Pipe[0];
  W.Pid = fork();
  if (W.Pid == 0) {
    CrashRecoveryContext::Disable(); // A crash is to end this process.
    const std::string All = Text();
    const DiagnosticHandler *Diagnostics = C.getDiagHandlerPtr();
    if (Diagnostics && Diagnostics->HasErrors)
      _exit(1);
    writeAll(Pipe[1], All);
    _exit(0);
  }
  close(Pipe[1]);
  return W;
}

/// What the process has written; nothing if it failed.
std::optional<std::string> finish(const Worker &W) {
  std::string All;
  std::array<char, 1 << 16> Part;
  ssize_t Got = 0;
  while (W.Pid > 0 && ((Got = read(W.Output, Part.data(), Part.size())) > 0 ||
                       (Got < 0 && errno == EINTR)))
    All.append(Part.data(), Got < 0 ? 0 : Got);
  if (W.Output >= 0)
    close(W.Output);
  int Status = 1;
  while (W.Pid > 0 && waitpid(W.Pid, &Status, 0) < 0 && errno == EINTR)
    ;
  if (W.Pid <= 0 || Status != 0 || Got < 0)
    return std::nullopt;
  return All;
}

/// The numbers of source files, which differ between processes.
class Files {
public:
  /// `.file N "name"`. Returns N and the number that the name has in all.
  std::pair<StringRef, unsigned> add(StringRef Directive) {
    auto [Number, Name] =
        Directive.drop_front(strlen(".file")).ltrim().split('"');
    return {Number.trim(), All.try_emplace(Name, All.size() + 1).first->second};
  }
  std::string print() const {
    std::string Text;
    for (const auto &[Name, Number] : All)
      Text += ("\t.file\t" + Twine(Number) + " \"" + Name + "\n").str();
    return Text;
  }

private:
  MapVector<StringRef, unsigned> All;
};

/// The text of a kernel, with other numbers of source files.
std::string renumbered(StringRef Kernel, const StringMap<unsigned> &Numbers) {
  constexpr StringLiteral Loc = "\t.loc\t";
  std::string Text;
  while (!Kernel.empty()) {
    auto [Line, Rest] = Kernel.split('\n');
    if (Line.consume_front(Loc)) {
      const StringRef Number = Line.take_while(isDigit);
      Text += (Loc + Twine(Numbers.lookup(Number))).str();
      Line = Line.drop_front(Number.size());
    }
    Text += Line;
    Text += '\n';
    Kernel = Rest;
  }
  return Text;
}

} // namespace

/// All shares as one module: the first one, and of the others their kernels,
/// and what these refer to and the first one lacks: functions of elsewhere, and
/// variables. Directives that declare nothing stay at the end.
static std::optional<std::string> merge(ArrayRef<std::string> Shares) {
  Files All;
  StringSet<> Names;
  std::string Head, Rest, Sections;
  for (const std::string &Share : Shares) {
    Expected<std::vector<ModuleItem>> Items = assembler::readItems(Share);
    if (!Items) {
      consumeError(Items.takeError());
      return std::nullopt;
    }
    StringMap<unsigned> Numbers;
    for (const ModuleItem &I : *Items)
      if (I.Text.starts_with(".file")) {
        const auto [Old, New] = All.add(I.Text);
        Numbers[Old] = New;
      }
    for (const ModuleItem &I : *Items) {
      const bool IsNew = !I.Name.empty() && Names.insert(I.Name).second;
      if (!Head.empty() && IsNew)
        Rest += renumbered(I.Text, Numbers);
    }
    if (Head.empty()) {
      auto Last = Items->end();
      while (Last != Items->begin() && std::prev(Last)->Name.empty() &&
             !std::prev(Last)->isCode())
        --Last;
      const char *const End = Last == Items->end() ? Share.data() + Share.size()
                                                   : Last->Text.begin();
      Head = StringRef(Share.data(), End - Share.data()).rtrim().str() + "\n";
      for (; Last != Items->end(); ++Last)
        if (!Last->Text.starts_with(".file"))
          Sections += ("\t" + Last->Text + "\n").str();
    }
  }
  return Head + Rest + Sections + All.print();
}

std::optional<std::string>
compileInShares(Module &M, function_ref<bool(const Function &)> MayLeaveOut,
                function_ref<std::string()> Compile) {
  if (M.getInstructionCount() < LeastInstructions)
    return std::nullopt;
  const auto Shares = sharesOf(M, MayLeaveOut);
  if (!Shares)
    return std::nullopt;
  SmallVector<Worker> Workers;
  for (unsigned I = 0; I < NumShares; ++I)
    if (I == 0 || !(*Shares)[I].empty())
      Workers.push_back(begin(M.getContext(), [&] {
        reduceTo(M, I, (*Shares)[I], MayLeaveOut);
        return Compile();
      }));
  std::vector<std::string> Texts;
  for (const Worker &W : Workers)
    if (std::optional<std::string> Text = finish(W))
      Texts.push_back(std::move(*Text));
  return Texts.size() == Workers.size() ? merge(Texts) : std::nullopt;
}

} // namespace crsan::lift

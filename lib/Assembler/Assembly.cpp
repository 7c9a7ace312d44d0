// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an instrumented module's PTX to machine code.

#include "Assembly.h"
#include "AddedData.h"
#include "Cache.h"
#include "Convergence.h"
#include "RuntimeSplit.h"
#include "ToolRun.h"
#include "crsan/abi/Config.h"
#include "crsan/abi/Names.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace crsan::assembler {

namespace {

/// ptxas compiles several kernels at a time: checks make it four times the
/// work. The number is below that of most machines' processors, because other
/// compilations need processors too.
constexpr StringLiteral ProgramThreads = "--split-compile=4";

using Words = std::vector<std::string>;

/// Files that are made for a part of the module, and removed at the end.
struct PartFiles {
  const std::string Source, Object, Log;

  explicit PartFiles(const std::string &Stem)
      : Source(Stem + ".ptx"), Object(Stem + ".o"), Log(Stem + ".log") {}
  PartFiles(const PartFiles &) = delete;

private:
  const FileRemover Removers[3] = {FileRemover(Source), FileRemover(Object),
                                   FileRemover(Log)};
};

Error write(const std::string &Path, StringRef Text) {
  std::error_code Failure;
  raw_fd_ostream Out(Path, Failure);
  Out << Text;
  Out.close();
  if (!Failure)
    Failure = Out.error();
  Out.clear_error();
  return Failure ? createStringError("cannot write '" + Path +
                                     "': " + Failure.message())
                 : Error::success();
}

/// What the pass says in comments (abi/Names.h).
struct Comments {
  /// Functions in which no lane waits for another lane of its warp
  /// (lib/Transforms/Polls.h).
  StringSet<> Waitless;
  StringSet<> Asked; ///< Kernels whose native twins are asked for registers.
  RegisterNeeds Registers;

  Comments() = default;
  explicit Comments(StringRef PTX) {
    for (StringRef Line : split(PTX, '\n'))
      if (Line.consume_front(abi::WaitlessComment))
        Waitless.insert(Line.trim());
      else if (Line.consume_front(abi::FewRegistersComment))
        Registers.Few.insert(Line.trim());
      else if (Line.consume_front(abi::ManyRegistersComment))
        Registers.Many.insert(Line.trim());
      else if (Line.consume_front(abi::AskedTwinComment))
        Asked.insert(Line.trim());
  }
};

std::string limit(unsigned Registers) {
  return "--maxrregcount=" + utostr(Registers);
}

/// ptxas's options `Flags` for a program with checks: with level 2 in the place
/// of level 1, at which ptxas 13.0 gives wrong code for kernels that need more
/// registers than they get, as they may with checks (docs/lessons.md). Fast
/// compilation (-Ofc) of the kinds mid and min implies level 1, and permits no
/// other. Of several options the last one counts.
Words withoutLevelOne(const Words &Flags) {
  StringRef Level, Fast; // Empty: not given.
  Words Others;
  for (size_t I = 0; I < Flags.size(); ++I) {
    const auto [Name, Value] = StringRef(Flags[I]).split('=');
    StringRef *Given = nullptr;
    if (Name == "-Ofc" || Name == "--Ofast-compile")
      Given = &Fast;
    else if (Name == "-O" || Name == "--opt-level")
      Given = &Level;
    if (Given)
      *Given = Value.empty() && I + 1 < Flags.size() ? Flags[++I] : Value;
    else if (Name.starts_with("-O") && isDigit(Name[2]))
      Level = Name.drop_front(2);
    else
      Others.push_back(Flags[I]);
  }
  const bool ImpliesOne = Fast == "mid" || Fast == "min",
             IsFast = !Fast.empty() && Fast != "0",
             IsOne = Level.empty() ? ImpliesOne : Level.ltrim('0') == "1";
  if (!IsOne || (IsFast && !ImpliesOne))
    return Flags;
  Others.push_back("-O2");
  return Others;
}

/// The assembling of one module.
class Assembly {
public:
  explicit Assembly(const Request &R) : R(R) {}
  Error run();

private:
  const Request &R;
  std::unique_ptr<MemoryBuffer> Input;
  StringRef Given; ///< The PTX in Input.
  std::vector<ModuleItem> Module;
  Comments Said;

  Error readInput();
  Error explainFailure(StringRef Reason) const;
  Error assembleWhole(const RuntimeSplit &Split) const;
  Error assembleApart(const RuntimeSplit &Split) const;
  Error assembleRuntime(const PartFiles &Files, StringRef Text,
                        unsigned MaxRegisters,
                        std::optional<std::string> &Refusal) const;
  Error link(const PartFiles &Program, const PartFiles &Runtime) const;
  Error adjustObject(const std::string &Path) const;
  Error adjust(MutableArrayRef<uint8_t> Object) const;
  void passOn(const ToolRun &Run) const;
  Expected<RegisterLimits> limits(ArrayRef<ModuleItem> Kernels,
                                  const std::string &Twins) const;
  Expected<KernelRegisters> limitsByTwins(const std::string &Twins) const;

  std::string tool(StringRef Name) const {
    SmallString<128> Path(R.Toolkit);
    sys::path::append(Path, "bin", Name);
    return Path.str().str();
  }
  ToolRun ptxas(Words Flags, const std::string &Source,
                const std::string &Object,
                std::optional<std::string> Log = std::nullopt) const {
    append_range(Flags, Words{"--output-file", Object, Source});
    return ToolRun(tool("ptxas"), Flags, std::move(Log));
  }
  Error unmarked() const {
    return createStringError(
        "'" + R.Input + "' defines no " + abi::ConfigName +
        " of this version, so that the library would not check it; is CRSan's "
        "pass of another version than crsan-ptxas? reinstall CRSan");
  }
};

Error Assembly::run() {
  for (StringRef Name : {"ptxas", "nvlink"})
    if (!sys::fs::can_execute(tool(Name)))
      return createStringError("cannot run '" + tool(Name) + "'; is '" +
                               R.Toolkit +
                               "' a CUDA toolkit? correct --cuda-path=");
  if (Error E = readInput())
    return E;
  Expected<std::vector<ModuleItem>> Items = readItems(Given);
  if (!Items)
    return explainFailure(toString(Items.takeError()));
  Module = std::move(*Items);
  Said = Comments(Given);
  const RuntimeSplit Split = splitRuntime(Module, Said.Asked);
  return R.IsRelocatable || Split.Runtime.empty() ? assembleWhole(Split)
                                                  : assembleApart(Split);
}

Error Assembly::readInput() {
  auto Buffer = MemoryBuffer::getFile(R.Input);
  if (!Buffer)
    return createStringError("cannot read '" + R.Input +
                             "': " + Buffer.getError().message());
  Input = std::move(*Buffer);
  Given = Input->getBuffer().rtrim('\0');
  return Error::success();
}

/// The error that the input cannot be assembled. ptxas gets the input as it is,
/// to say in its own words what is wrong with it. If that is nothing, CRSan is
/// to blame, for this `Reason`.
Error Assembly::explainFailure(StringRef Reason) const {
  Words Flags = R.Flags;
  Flags.push_back(limit(usualLimit(R.MaxRegisters)));
  if (!ptxas(Flags, R.Input, R.Output).succeeds())
    return createStringError("ptxas does not assemble '" + R.Input + "'");
  sys::fs::remove(R.Output);
  return createStringError(
      "ptxas assembles '" + R.Input +
      "', but not with checks: " + Reason.trim() +
      "; compile this file without -fsanitize=cuda-race, and "
      "report this error");
}

/// The limits of kernels whose native twins are asked: as many registers as
/// their twins use.
Expected<KernelRegisters>
Assembly::limitsByTwins(const std::string &Twins) const {
  KernelRegisters Limits;
  if (Twins.empty())
    return Limits;
  const PartFiles Files(R.Output + ".twins");
  if (Error E = write(Files.Source, Twins))
    return E;
  Words Flags = {"-m64", "-O3", "--verbose", "--gpu-name=" + R.Architecture};
  if (R.IsRelocatable)
    Flags.push_back("-c");
  ToolRun Run = ptxas(Flags, Files.Source, Files.Object, Files.Log);
  const bool Succeeded = Run.succeeds();
  const KernelRegisters Used = usedRegisters(Run.words());
  bool AllKnown = Succeeded;
  for (const ModuleItem &Item : Module) {
    const StringRef Kernel = abi::nameOfTwinned(Item.Name);
    if (!Item.definesKernel() || !abi::isNativeTwin(Item.Name) ||
        !Said.Asked.contains(Kernel))
      continue;
    const auto Known = Used.find(Item.Name.str());
    AllKnown &= Known != Used.end();
    Limits[Kernel.str()] = Succeeded && Known != Used.end()
                               ? limitByTwin(Known->second)
                               : FullResidency;
  }
  if (!AllKnown)
    errs()
        << "CRSan: warning: ptxas does not say how many registers some kernels "
           "of '"
        << R.Input << "' use without checks; each of them gets "
        << FullResidency << " registers and may be slow\n";
  return Limits;
}

Expected<RegisterLimits> Assembly::limits(ArrayRef<ModuleItem> Kernels,
                                          const std::string &Twins) const {
  Expected<KernelRegisters> ByTwins = limitsByTwins(Twins);
  if (!ByTwins)
    return ByTwins.takeError();
  return registerLimits(Kernels, *ByTwins, Said.Registers, R.MaxRegisters);
}

/// What ptxas says of the program, for a user who wants to see it.
void Assembly::passOn(const ToolRun &Run) const {
  if (is_contained(R.Flags, "-v") || is_contained(R.Flags, "--verbose"))
    errs() << Run.words();
}

/// The register limit of each kernel without CRSan: by the directives of
/// `Module`, or `Most`, what the user permits.
static auto permittedRegisters(ArrayRef<ModuleItem> Module, unsigned Most) {
  StringMap<unsigned> Bounded;
  for (const EntryBounds &Kernel : entryBounds(Module))
    if (const unsigned Fit = Kernel.registersThatFit())
      Bounded[Kernel.Name] = std::min(Fit, Most);
  return [Bounded = std::move(Bounded), Most](StringRef Kernel) {
    const auto Found = Bounded.find(Kernel);
    return Found == Bounded.end() ? Most : Found->second;
  };
}

/// Changes an object file so that checks part no warps, and keep no warp
/// parted (Convergence.h), and so that a relocatable kernel may call functions
/// that need more registers than CRSan limits the kernel's own code to.
Error Assembly::adjustObject(const std::string &Path) const {
  return changeFile(
      Path, [this](MutableArrayRef<uint8_t> Object) { return adjust(Object); });
}

Error Assembly::adjust(MutableArrayRef<uint8_t> Object) const {
  auto Functions = functionsOf(Object);
  Error Failure = Functions ? Error::success() : Functions.takeError();
  if (R.IsRelocatable && !Failure)
    Failure =
        setRegisterLimits(Object, permittedRegisters(Module, R.MaxRegisters));
  if (Failure)
    return createStringError("cannot read what ptxas makes of '" + R.Input +
                             "': " + toString(std::move(Failure)));
  auto IsRuntime = [](StringRef Name) {
    return Name.starts_with("__crsan_") && !abi::isNativeTwin(Name);
  };
  removeYields(*Functions, [&](StringRef Name) {
    return IsRuntime(Name) || Said.Waitless.contains(Name);
  });
  const Gatherings Places = reserveGatherings(*Functions, [&](StringRef Name) {
    return !Name.starts_with("__crsan_");
  });
  if (Places.Shared)
    errs()
        << "CRSan: warning: in '" << R.Input << "', " << Places.Shared
        << " places where the lanes of a warp gather share a barrier register "
           "with checks, because the program uses all registers: lanes may "
           "stay apart there, and the program may hang; split its functions "
           "or compile it with a lower -O\n";
  return Error::success();
}

/// Relocatable code, or code without a runtime.
Error Assembly::assembleWhole(const RuntimeSplit &Split) const {
  std::string Text = dropSpareTwins(Given, Module);
  unsigned MaxRegisters = usualLimit(R.MaxRegisters);
  if (!Split.Runtime.empty()) {
    Expected<std::vector<ModuleItem>> Items = readItems(Text);
    if (!Items)
      return Items.takeError();
    Expected<RegisterLimits> Limits = limits(*Items, Split.Twins);
    if (!Limits)
      return Limits.takeError();
    Text = limitRegisters(Text, *Items, Limits->Kernels);
    MaxRegisters = Limits->Functions;
  }
  if (std::optional<std::string> Marked = withMark(Text))
    Text = std::move(*Marked);
  else if (!Split.Runtime.empty())
    return unmarked();
  if (R.IsRelocatable)
    Text = withItself(Text);
  const PartFiles Files(R.Output + ".whole");
  if (Error E = write(Files.Source, Text))
    return E;
  Words Flags = Split.Runtime.empty() ? R.Flags : withoutLevelOne(R.Flags);
  Flags.push_back(limit(MaxRegisters));
  ToolRun Run = ptxas(Flags, Files.Source, R.Output, Files.Log);
  if (!Run.succeeds())
    return explainFailure(Run.words());
  passOn(Run);
  return adjustObject(R.Output);
}

Error Assembly::assembleApart(const RuntimeSplit &Split) const {
  Expected<std::vector<ModuleItem>> Items = readItems(Split.Program);
  if (!Items)
    return Items.takeError();
  Expected<RegisterLimits> Limits = limits(*Items, Split.Twins);
  if (!Limits)
    return Limits.takeError();
  const std::optional<std::string> Marked = withMark(Split.Runtime);
  if (!Marked)
    return unmarked();
  const PartFiles Program(R.Output + ".program"),
      Runtime(R.Output + ".runtime");
  if (Error E = write(Program.Source,
                      limitRegisters(Split.Program, *Items, Limits->Kernels)))
    return E;
  // Both parts are assembled at the same time, and both are waited for,
  // whatever becomes of the first.
  Words Flags = withoutLevelOne(R.Flags);
  if (none_of(R.Flags, [](StringRef F) { return F.contains("split-compile"); }))
    Flags.push_back(ProgramThreads.str());
  append_range(Flags, Words{limit(Limits->Functions), "-c"});
  ToolRun Run = ptxas(Flags, Program.Source, Program.Object, Program.Log);
  const bool HasMetadata = StringRef(*Marked).contains("__crsan_md_");
  std::optional<std::string> Refusal;
  Error RuntimeError =
      assembleRuntime(Runtime, *Marked,
                      HasMetadata ? Limits->Functions : FullResidency, Refusal);
  const bool Succeeded = Run.succeeds();
  if (!Succeeded || Refusal) {
    consumeError(std::move(RuntimeError));
    return explainFailure(Succeeded ? *Refusal : Run.words());
  }
  if (RuntimeError)
    return RuntimeError;
  passOn(Run);
  if (Error E = adjustObject(Program.Object))
    return E;
  return link(Program, Runtime);
}

/// Makes the runtime's object file, which is the same for many modules and
/// takes ptxas longer than most programs. `Refusal`: what ptxas says if it does
/// not assemble it.
Error Assembly::assembleRuntime(const PartFiles &Files, StringRef Text,
                                unsigned MaxRegisters,
                                std::optional<std::string> &Refusal) const {
  // The runtime is optimised however the program is compiled, because a
  // collider misses what happens while it is slower than its delays.
  const Words Flags = {"-m64", "-O3", "--gpu-name=" + R.Architecture,
                       limit(MaxRegisters), "-c"};
  const auto Make = [&]() -> Expected<std::string> {
    if (Error E = write(Files.Source, Text))
      return std::move(E);
    ToolRun Run = ptxas(Flags, Files.Source, Files.Object, Files.Log);
    if (!Run.succeeds())
      return createStringError(Refusal.emplace(Run.words()));
    if (Error E = adjustObject(Files.Object))
      return std::move(E);
    auto Buffer = MemoryBuffer::getFile(Files.Object);
    if (!Buffer)
      return createStringError("cannot read '" + Files.Object +
                               "': " + Buffer.getError().message());
    return (*Buffer)->getBuffer().str();
  };
  Expected<driver::Cached> Object = driver::cached(
      "runtime", {driver::toolKey(tool("ptxas")), join(Flags, " "), Text},
      Make);
  return Object ? write(Files.Object, Object->Bytes) : Object.takeError();
}

Error Assembly::link(const PartFiles &Program, const PartFiles &Runtime) const {
  Words Flags = {"-m64", "-arch=" + R.Architecture,
                 "--suppress-stack-size-warning"};
  if (R.IsDebug)
    Flags.push_back("-g");
  append_range(Flags, Words{"-o", R.Output, Program.Object, Runtime.Object});
  ToolRun Run(tool("nvlink"), Flags, Program.Log);
  if (Run.succeeds())
    return Error::success();
  return explainFailure(Run.words());
}

} // namespace

Error assemble(const Request &R) { return Assembly(R).run(); }

} // namespace crsan::assembler

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A command that is written for nvcc, in clang's words.
//
// Words that nvcc does not know are clang's and stay as they are.
#include "NvccCommand.h"
#include "CommandLine.h"
#include "NvccArchitectures.h"
#include "NvccOptions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace crsan::driver;
using llvm::StringRef;
using Words = std::vector<std::string>;
namespace path = llvm::sys::path;

namespace {
/// Goes through the words of one command.
class Reader {
public:
  NvccCommand Command;
  /// -forward-unknown-...: options that nvcc does not know are the host
  /// compiler's.
  bool ForwardsUnknown = false;

  llvm::Error read(llvm::ArrayRef<std::string> Words);
  llvm::Error finish();

private:
  Words &Out = Command.Words;
  std::string Architecture; ///< Of -arch.
  bool NamesCode = false;   ///< -code was given.
  bool LineInfo = false, DeviceDebug = false, OptimizesDevice = false;
  std::string Language; ///< Of -x.
  std::string LanguageInOut =
      "none"; ///< That clang has read at the end of Out.
  std::string OutputDirectory;
  StringRef DeviceOutput; ///< The extension of the file of -ptx or -cubin.

  llvm::Error visit(const NvccWord &W, const std::string &Typed);
  llvm::Error visitRule(const NvccWord &W, const std::string &Typed);
  bool remember(const NvccWord &W);
  llvm::Error visitInput(StringRef Path);
  llvm::Error readFiles(const NvccWord &W);
  llvm::Error visitArchitectures(const NvccWord &W, const std::string &Typed);
  void visitHostOptions(const NvccWord &W, const std::string &Typed);
  void visitAssemblerOptions(const NvccWord &W, const std::string &Typed);
  void visitWerror(const NvccWord &W, const std::string &Typed);
  void write(const std::string &Typed, const Words &Clang);
  void drop(const std::string &Typed, StringRef Why);
  void nameOutput();
};
} // namespace

void Reader::write(const std::string &Typed, const Words &Clang) {
  llvm::append_range(Out, Clang);
  const std::string Written = llvm::join(Clang, " ");
  if (Written != Typed)
    Command.Notes.push_back("nvcc's '" + Typed + "' -> '" + Written + "'");
}

void Reader::drop(const std::string &Typed, StringRef Why) {
  Command.Notes.push_back(("nvcc's '" + Typed + "' is dropped: " + Why).str());
}

/// The words of \p Text, with \p Value for each $.
static Words withValue(StringRef Text, StringRef Value) {
  Words Out;
  llvm::SmallVector<StringRef, 4> Parts;
  Text.split(Parts, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef Part : Parts) {
    const auto [Head, Tail] = Part.split('$');
    Out.push_back(Part.contains('$') ? (Head + Value + Tail).str()
                                     : Part.str());
  }
  return Out;
}

llvm::Error Reader::visit(const NvccWord &W, const std::string &Typed) {
  const NvccOption &O = *W.Option;
  if (W.LacksValue)
    return llvm::createStringError("nvcc's '" + Typed +
                                   "' has a value, which is missing");
  switch (O.Fate) {
  case NvccFate::Write: {
    Words Clang;
    if (O.Value == NvccValue::List)
      for (const std::string &Item : splitNvccList(W.Value))
        llvm::append_range(Clang, withValue(O.Text, Item));
    else
      Clang = withValue(O.Text, W.Value);
    write(Typed, Clang);
    return llvm::Error::success();
  }
  case NvccFate::Switch:
    if (W.Value != "true" && W.Value != "false")
      return llvm::createStringError("'" + Typed + "': write true or false");
    write(Typed, withValue(W.Value == "true" ? O.Text : O.False, ""));
    return llvm::Error::success();
  case NvccFate::Drop:
    drop(Typed, O.Text);
    return llvm::Error::success();
  case NvccFate::Refuse:
    return llvm::createStringError("clang has nothing like nvcc's '" + Typed +
                                   "'; " + O.Text);
  case NvccFate::Rule:
    return visitRule(W, Typed);
  }
  llvm_unreachable("all fates are handled");
}

llvm::Error Reader::visitArchitectures(const NvccWord &W,
                                       const std::string &Typed) {
  llvm::Expected<Words> Clang = W.Option->Rule == NvccRule::Code
                                    ? translateCode(W.Value)
                                    : translateGenerateCode(W.Value);
  if (!Clang)
    return Clang.takeError();
  NamesCode |= W.Option->Rule == NvccRule::Code;
  write(Typed, *Clang);
  return llvm::Error::success();
}

void Reader::visitWerror(const NvccWord &W, const std::string &Typed) {
  Words Clang;
  for (const std::string &Kind : splitNvccList(W.Value))
    if (const std::optional<StringRef> Word = clangsWerror(Kind))
      llvm::append_range(Clang, withValue(*Word, ""));
    else
      Clang.push_back("-Werror=" + Kind);
  if (Clang.empty())
    drop(Typed, "it is an error in clang, or clang has no such warning");
  else
    write(Typed, Clang);
}

/// Options of g++'s that clang does not know make no difference to checks.
static void warnOfHostOption(StringRef Word) {
  llvm::errs() << "CRSan: warning: clang does not know '" << Word
               << "', an option of another host compiler; it is left out\n";
}

void Reader::visitHostOptions(const NvccWord &W, const std::string &Typed) {
  Words Known;
  for (const std::string &Item : splitNvccList(W.Value))
    for (const std::string &Word : splitShellWords(Item))
      if (Word.starts_with("-") && Word != "-" && !readOption(Word).Option)
        warnOfHostOption(Word);
      else
        Known.push_back(Word);
  write(Typed, Known);
}

void Reader::visitAssemblerOptions(const NvccWord &W,
                                   const std::string &Typed) {
  Words Clang;
  for (const std::string &Item : splitNvccList(W.Value))
    for (const std::string &Word : splitShellWords(Item))
      llvm::append_range(Clang, Words{"-Xcuda-ptxas", Word});
  write(Typed, Clang);
}

/// The words in files of options take the place of the option.
llvm::Error Reader::readFiles(const NvccWord &W) {
  for (const std::string &File : splitNvccList(W.Value)) {
    auto Buffer = llvm::MemoryBuffer::getFile(File);
    if (!Buffer)
      return llvm::createStringError("cannot read '" + File + "' of -optf: " +
                                     Buffer.getError().message());
    if (llvm::Error E = read(splitShellWords((*Buffer)->getBuffer())))
      return E;
  }
  return llvm::Error::success();
}

/// Options whose words are not those of the table; false for the others.
bool Reader::remember(const NvccWord &W) {
  using Product = NvccCommand::Product;
  switch (W.Option->Rule) {
  case NvccRule::DeviceLink:
    Command.Makes = Product::DeviceLink;
    return true;
  case NvccRule::Fatbin:
    Command.Makes = Product::Fatbin;
    DeviceOutput = ".fatbin";
    Out.push_back("--cuda-device-only");
    Out.push_back("-c");
    return true;
  case NvccRule::Library:
    Command.Makes = Product::Library;
    return true;
  case NvccRule::Run:
    Command.Runs = true;
    return true;
  case NvccRule::RunArguments:
    llvm::append_range(Command.RunArguments, splitNvccList(W.Value));
    return true;
  case NvccRule::OutputDirectory:
    OutputDirectory = W.Value;
    return true;
  case NvccRule::Archiver:
    Command.Archiver = W.Value;
    return true;
  case NvccRule::DeviceRuntime:
    Command.HasDeviceRuntime = W.Value != "none";
    return true;
  case NvccRule::OptimizedDevice:
    OptimizesDevice = true;
    return true;
  case NvccRule::NoDeviceLink:
    Command.LinksDeviceCode = false;
    return true;
  case NvccRule::ListCode:
  case NvccRule::ListArchitectures:
    Command.Makes = Product::Listing;
    Command.Listing += listArchitectures(
        W.Option->Rule == NvccRule::ListCode ? "sm_" : "compute_");
    return true;
  default:
    return false;
  }
}

llvm::Error Reader::visitRule(const NvccWord &W, const std::string &Typed) {
  if (remember(W)) {
    std::string Text = W.Option->Text.str();
    llvm::erase(Text, '`');
    Command.Notes.push_back("nvcc's '" + Typed + "' -> " + Text);
    return llvm::Error::success();
  }
  const NvccRule Rule = W.Option->Rule;
  switch (Rule) {
  case NvccRule::Cubin:
  case NvccRule::PTX:
    DeviceOutput = Rule == NvccRule::PTX ? ".ptx" : ".cubin";
    write(Typed, {"--cuda-device-only", Rule == NvccRule::PTX ? "-S" : "-c"});
    break;
  case NvccRule::CudaRuntime:
    write(Typed, {"--cudart=" + W.Value});
    break;
  case NvccRule::OptionsFile:
    return readFiles(W);
  case NvccRule::DeviceDebug:
    DeviceDebug = true;
    write(Typed, {"-g"}); // The rest is written at the end.
    break;
  case NvccRule::LineInfo:
    LineInfo = true;
    Command.Notes.push_back("nvcc's '" + Typed + "' -> '-gline-tables-only'");
    break;
  case NvccRule::Language:
    Language = W.Value == "cu" ? "cuda" : W.Value;
    LanguageInOut = Language;
    write(Typed, {"-x", Language});
    break;
  case NvccRule::HostOptions:
    visitHostOptions(W, Typed);
    break;
  case NvccRule::AssemblerOptions:
    visitAssemblerOptions(W, Typed);
    break;
  case NvccRule::Architecture:
    Architecture = W.Value;
    break;
  case NvccRule::Code:
  case NvccRule::GenerateCode:
    return visitArchitectures(W, Typed);
  case NvccRule::DefaultStream:
    if (W.Value == "per-thread")
      write(Typed, {"-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1", "-Xclang",
                    "-fgpu-default-stream=per-thread"});
    else
      drop(Typed, "clang launches into it by itself");
    break;
  case NvccRule::Werror:
    visitWerror(W, Typed);
    break;
  default:
    llvm_unreachable("remember() has the other rules");
  }
  return llvm::Error::success();
}

/// Clang takes files behind `-x cuda` for sources, and clang++ takes C for C++;
/// nvcc does not.
llvm::Error Reader::visitInput(StringRef Path) {
  const StringRef Extension = path::extension(Path);
  if (Extension == ".ptx" || Extension == ".cubin" || Extension == ".fatbin" ||
      Extension == ".gpu")
    return llvm::createStringError(
        "clang does not take '" + Path +
        "'; give it to the toolkit's ptxas, nvlink or fatbinary");
  const bool IsLinked = Extension == ".o" || Extension == ".a" ||
                        Extension == ".so" || Path.contains(".so.");
  std::string Own = Language.empty() ? "none" : Language;
  if (IsLinked)
    Own = "none";
  else if (Extension == ".c" && Language.empty())
    Own = "c";
  if (Own != LanguageInOut)
    llvm::append_range(Out, Words{"-x", Own});
  LanguageInOut = Own;
  Out.push_back(Path.str());
  return llvm::Error::success();
}

llvm::Error Reader::read(llvm::ArrayRef<std::string> Words) {
  while (!Words.empty()) {
    const StringRef Word = Words.front();
    size_t Length = 1;
    if (Word == "--") {
      llvm::append_range(Out, Words);
      return llvm::Error::success();
    }
    if (Word == "-" || !Word.starts_with("-")) {
      if (llvm::Error E = visitInput(Word))
        return E;
    } else if (std::optional<NvccWord> W = readNvccWord(Words);
               W &&
               !(W->Option->Rule == NvccRule::Werror &&
                 (W->LacksValue || (W->Length == 2 && !isNvccWerror(*W))))) {
      Length = W->Length;
      if (llvm::Error E = visit(*W, llvm::join(Words.take_front(Length), " ")))
        return E;
    } else {
      const Argument Clang = readOption(Words);
      Length = Clang.Words.size();
      if (!Clang.Option && ForwardsUnknown)
        warnOfHostOption(Word);
      else
        llvm::append_range(Out, Clang.Words);
    }
    Words = Words.drop_front(Length);
  }
  return llvm::Error::success();
}

/// -odir, and the names that nvcc gives to PTX and cubin files.
void Reader::nameOutput() {
  const CommandLine Line = CommandLine::parse(Out);
  if (Line.last(options::OPT_o))
    return;
  const bool ListsDependencies =
      Line.has(options::OPT_M) || Line.has(options::OPT_MM);
  if (DeviceOutput.empty() && OutputDirectory.empty())
    return;
  std::vector<StringRef> Sources;
  for (const Argument &A : Line.Arguments)
    if (A.IsInput && A.Input != InputKind::Linker)
      Sources.push_back(A.spelling());
  if (Sources.size() != 1)
    return;
  llvm::SmallString<128> Name(OutputDirectory);
  path::append(Name, path::stem(Sources.front()) +
                         (DeviceOutput.empty() ? ".o" : DeviceOutput));
  if (ListsDependencies)
    llvm::append_range(Out, Words{"-MT", Name.str().str()});
  else if (Line.phase() < Phase::Link)
    llvm::append_range(Out, Words{"-o", Name.str().str()});
}

llvm::Error Reader::finish() {
  if (!Architecture.empty() && NamesCode) {
    drop("-arch=" + Architecture, "-code names the architectures");
  } else if (!Architecture.empty()) {
    llvm::Expected<Words> Clang = translateArchitecture(Architecture);
    if (!Clang)
      return Clang.takeError();
    write("-arch=" + Architecture, *Clang);
  }
  // Before the user's own -g, which says more.
  if (LineInfo)
    Out.insert(Out.begin(), "-gline-tables-only");
  // nvcc's -O is for host code; it always optimizes device code, but for -G.
  if (DeviceDebug && !OptimizesDevice)
    write("-G", {"--cuda-noopt-device-debug"});
  else
    llvm::append_range(Out, Words{"-Xarch_device", "-O3"});
  nameOutput();
  return llvm::Error::success();
}

llvm::Expected<NvccCommand>
NvccCommand::read(llvm::ArrayRef<std::string> Words) {
  Reader R;
  R.ForwardsUnknown = llvm::any_of(
      Words, [](StringRef Word) { return Word.contains("-forward-unknown-"); });
  if (llvm::Error E = R.read(Words))
    return std::move(E);
  if (llvm::Error E = R.finish())
    return std::move(E);
  return std::move(R.Command);
}

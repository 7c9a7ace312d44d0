// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device code of what is linked.
#include "DeviceCode.h"
#include "crsan/abi/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/Object/OffloadBinary.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

using namespace crsan::driver;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

/// An object of -dlink has a symbol for each device image that it links: this,
/// and a hash of the image.
static constexpr StringRef LinkedMark = "__crsan_device_linked_";
static constexpr size_t HashDigits = 16;

static std::string linkedMark(StringRef Image) {
  return LinkedMark.str() + llvm::utohexstr(llvm::xxh3_64bits(Image),
                                            /*LowerCase=*/true, HashDigits);
}

namespace {

using ArchitectureSet = std::set<std::string>;

/// One archive with device code.
struct Archive {
  std::string Path;
  ArchitectureSet Architectures;
};

/// Goes through the words of a link as the linker does, from left to right.
class LinkReader {
public:
  explicit LinkReader(std::vector<std::string> Dirs) : Dirs(std::move(Dirs)) {}

  void read(const CommandLine &Line);

  ArchitectureSet OfObjects;
  std::vector<Archive> Archives;
  std::vector<std::string> Objects; ///< Those with device code.
  std::string FirstFile;            ///< With device code; empty: none.
  /// The marks in objects of -dlink, and those of the device code of files.
  std::set<std::string> LinkedMarks;
  std::vector<std::pair<std::string, std::string>> FilesByMark;
  bool IsFromNvcc = false; ///< A command for nvcc compiled some file.
  /// Some file was compiled with -fsanitize=cuda-race.
  bool IsInstrumented = false;
  /// A source of this command becomes an object with device code.
  bool CompilesRelocatable = false;

private:
  std::vector<std::string> Dirs;
  bool WholeArchive = false;

  void addLinkerWord(StringRef Word);
  void readMarks(StringRef Contents);
  void addFile(StringRef Path);
  void addLibrary(StringRef Name);
};

} // namespace

/// Whether the values are words for the linker.
static bool isForLinker(const Argument &A) {
  return A.matches(options::OPT_Wl_COMMA) || A.matches(options::OPT_Xlinker);
}

/// The folders of `-L`, wherever it stands.
static std::vector<std::string> namedDirs(const CommandLine &Line) {
  std::vector<std::string> Dirs;
  for (const Argument &A : Line.Arguments) {
    if (A.matches(options::OPT_L))
      llvm::append_range(Dirs, A.Values);
    else if (isForLinker(A))
      for (StringRef Word : A.Values)
        if (Word.consume_front("-L") && !Word.empty())
          Dirs.push_back(Word.str());
  }
  if (const char *Paths = getenv("LIBRARY_PATH")) {
    llvm::SmallVector<StringRef, 4> Parts;
    StringRef(Paths).split(Parts, ':', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef Part : Parts)
      Dirs.push_back(Part.str());
  }
  return Dirs;
}

void LinkReader::read(const CommandLine &Line) {
  const bool IsRelocatable = Line.has(options::OPT_fgpu_rdc);
  for (const Argument &A : Line.Arguments) {
    if (A.IsInput && A.Input == InputKind::Linker)
      addFile(A.spelling());
    else if (A.IsInput && A.Input == InputKind::Cuda && IsRelocatable)
      CompilesRelocatable = true;
    else if (A.matches(options::OPT_l))
      addLibrary(A.Values.front());
    else if (isForLinker(A))
      for (StringRef Word : A.Values)
        addLinkerWord(Word);
  }
}

void LinkReader::addLinkerWord(StringRef Word) {
  if (Word == "--whole-archive" || Word == "-whole-archive")
    WholeArchive = true;
  else if (Word == "--no-whole-archive" || Word == "-no-whole-archive")
    WholeArchive = false;
  else if (Word.consume_front("-l"))
    addLibrary(Word);
  else if (!Word.starts_with("-"))
    addFile(Word);
}

/// Where the linker finds `-lNAME`: `-l:FILE` names the file itself.
void LinkReader::addLibrary(StringRef Name) {
  const bool IsFile = Name.consume_front(":");
  for (const std::string &Dir : Dirs)
    for (StringRef Extension : {".so", ".a"}) {
      llvm::SmallString<128> File(Dir);
      path::append(File,
                   IsFile ? Name.str() : ("lib" + Name + Extension).str());
      if (fs::exists(File))
        return addFile(File);
    }
}

/// The names of sections and symbols, among other such names.
void LinkReader::readMarks(StringRef Contents) {
  // The second one may end the name of its relocations.
  constexpr StringRef Mark("\0__crsan_instrumented\0", 22);
  constexpr StringRef HostMark(crsan::abi::HostUnitsSection,
                               sizeof(crsan::abi::HostUnitsSection));
  constexpr StringRef NvccMark("\0__crsan_nvcc\0", 14);
  IsFromNvcc |= Contents.contains(NvccMark);
  IsInstrumented |= Contents.contains(Mark) || Contents.contains(HostMark);
  for (size_t At = Contents.find(LinkedMark); At != StringRef::npos;
       At = Contents.find(LinkedMark, At + 1))
    LinkedMarks.insert(
        Contents.substr(At, LinkedMark.size() + HashDigits).str());
}

void LinkReader::addFile(StringRef Path) {
  if (fs::is_directory(Path))
    return;
  auto Buffer = llvm::MemoryBuffer::getFile(Path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  // A missing file is the linker's to complain of.
  if (!Buffer)
    return;
  const llvm::file_magic Magic = llvm::identify_magic((*Buffer)->getBuffer());
  if (Magic == llvm::file_magic::elf_shared_object)
    return;
  readMarks((*Buffer)->getBuffer());
  llvm::SmallVector<llvm::object::OffloadFile> Images;
  if (llvm::Error E = llvm::object::extractOffloadBinaries(
          (*Buffer)->getMemBufferRef(), Images)) {
    llvm::consumeError(std::move(E));
    return;
  }
  ArchitectureSet Found;
  for (const llvm::object::OffloadFile &Image : Images)
    if (Image.getBinary()->getOffloadKind() == llvm::object::OFK_Cuda) {
      Found.insert(Image.getBinary()->getArch().str());
      FilesByMark.emplace_back(linkedMark(Image.getBinary()->getImage()), Path);
    }
  if (Found.empty())
    return;
  if (FirstFile.empty())
    FirstFile = Path.str();
  if (Magic == llvm::file_magic::archive && !WholeArchive)
    Archives.push_back({Path.str(), Found});
  else {
    Objects.push_back(Path.str());
    OfObjects.insert(Found.begin(), Found.end());
  }
}

static ArchitectureSet unionOf(llvm::ArrayRef<Archive> Archives) {
  ArchitectureSet All;
  for (const Archive &A : Archives)
    All.insert(A.Architectures.begin(), A.Architectures.end());
  return All;
}

ArchivedDeviceCode crsan::driver::findArchivedDeviceCode(
    const CommandLine &Line, const std::vector<std::string> &LibraryDirs) {
  std::vector<std::string> Dirs = namedDirs(Line);
  llvm::append_range(Dirs, LibraryDirs);
  LinkReader Reader(std::move(Dirs));
  Reader.read(Line);

  ArchivedDeviceCode Result;
  if (Reader.CompilesRelocatable)
    return Result;
  const ArchitectureSet Program =
      Reader.OfObjects.empty() ? unionOf(Reader.Archives) : Reader.OfObjects;
  if (Reader.OfObjects.empty())
    Result.Architectures.assign(Program.begin(), Program.end());
  for (const Archive &A : Reader.Archives) {
    std::vector<std::string> Missing;
    std::set_difference(Program.begin(), Program.end(), A.Architectures.begin(),
                        A.Architectures.end(), std::back_inserter(Missing));
    if (!Missing.empty())
      Result.Warnings.push_back(
          "'" + A.Path + "' has no device code for " +
          llvm::join(Missing, ", ") +
          ", which other files of the link have: on such a GPU its kernels are "
          "missing; compile all files with the same --offload-arch=");
  }
  return Result;
}

static bool isLink(const CommandLine &Line) {
  return Line.phase() == Phase::Link && !Line.has(options::OPT_r);
}

bool crsan::driver::linksObjectsOfNvcc(const CommandLine &Line) {
  if (!isLink(Line))
    return false;
  LinkReader Reader(namedDirs(Line));
  Reader.read(Line);
  return Reader.IsFromNvcc;
}

bool crsan::driver::linksInstrumentedCode(const CommandLine &Line,
                                          bool LinksDeviceCode) {
  if (!isLink(Line))
    return false;
  LinkReader Reader(namedDirs(Line));
  Reader.read(Line);
  return Reader.IsInstrumented &&
         (LinksDeviceCode || Reader.FirstFile.empty() ||
          !Reader.LinkedMarks.empty());
}

DeviceLinkedCode crsan::driver::findDeviceLinkedCode(const CommandLine &Line) {
  LinkReader Reader(namedDirs(Line));
  Reader.read(Line);
  DeviceLinkedCode Found;
  Found.IsPresent = !Reader.LinkedMarks.empty();
  for (const auto &[Mark, File] : Reader.FilesByMark)
    if (!Reader.LinkedMarks.count(Mark) &&
        !llvm::is_contained(Found.Missing, File))
      Found.Missing.push_back(File);
  return Found;
}

DeviceCodeFiles crsan::driver::findDeviceCode(const CommandLine &Line) {
  LinkReader Reader(namedDirs(Line));
  Reader.read(Line);
  DeviceCodeFiles Found;
  Found.Objects = Reader.Objects;
  ArchitectureSet All = unionOf(Reader.Archives);
  All.insert(Reader.OfObjects.begin(), Reader.OfObjects.end());
  Found.Architectures.assign(All.begin(), All.end());
  for (const Archive &A : Reader.Archives)
    Found.Archives.push_back(A.Path);
  for (const auto &[Mark, File] : Reader.FilesByMark)
    Found.Marks.insert(Mark);
  return Found;
}

std::string crsan::driver::findUnlinkedDeviceCode(const CommandLine &Line) {
  // With CUDA sources, and if asked to, clang links device code.
  if (!isLink(Line) || Line.has(options::OPT_offload_link) ||
      Line.hasInput(InputKind::Cuda))
    return {};
  LinkReader Reader(namedDirs(Line));
  Reader.read(Line);
  // translate() warns of what an object of -dlink lacks.
  if (!Reader.LinkedMarks.empty())
    return {};
  return Reader.FirstFile;
}

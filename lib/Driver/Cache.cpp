// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tools keep so that they need not make it twice.

#include "Cache.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <optional>

#include <link.h>

using namespace llvm;

namespace crsan::driver {

/// A file that was not written to its end lacks it.
static constexpr StringLiteral End = "\n// crsan end of file\n";

/// LLVM's function for pruning removes files of such names only.
static constexpr StringLiteral FilePrefix = "llvmcache-";

//===----------------------------------------------------------------------===//
// What a file depends on
//===----------------------------------------------------------------------===//

/// The linker's hash of this program; empty: it has none.
static std::string ownBuild() {
  std::string Id;
  dl_iterate_phdr(
      [](dl_phdr_info *Object, size_t, void *Found) {
        for (ElfW(Half) I = 0; I < Object->dlpi_phnum; ++I) {
          const ElfW(Phdr) &Segment = Object->dlpi_phdr[I];
          if (Segment.p_type != PT_NOTE)
            continue;
          StringRef Notes(reinterpret_cast<const char *>(Object->dlpi_addr +
                                                         Segment.p_vaddr),
                          Segment.p_memsz);
          ElfW(Nhdr) N;
          while (Notes.size() >= sizeof(N)) {
            std::memcpy(&N, Notes.data(), sizeof(N));
            Notes = Notes.drop_front(sizeof(N));
            const StringRef Name = Notes.take_front(N.n_namesz);
            Notes = Notes.drop_front(
                std::min(Notes.size(), alignTo(size_t(N.n_namesz), 4)));
            if (N.n_type == NT_GNU_BUILD_ID && Name == StringRef("GNU\0", 4))
              *static_cast<std::string *>(Found) =
                  Notes.take_front(N.n_descsz).str();
            Notes = Notes.drop_front(
                std::min(Notes.size(), alignTo(size_t(N.n_descsz), 4)));
          }
        }
        return 1; // The first object is the program.
      },
      &Id);
  return Id;
}

std::string toolKey(const std::string &Path) {
  sys::fs::file_status Status;
  if (sys::fs::status(Path, Status))
    return Path;
  return (Path + " " + Twine(Status.getSize()) + " " +
          Twine(Status.getLastModificationTime().time_since_epoch().count()))
      .str();
}

static std::string keyOf(ArrayRef<StringRef> DependsOn, StringRef Build) {
  SHA256 Hash;
  const auto Add = [&](StringRef Part) {
    Hash.update(std::to_string(Part.size()) + ":");
    Hash.update(Part);
  };
  Add(Build);
  for (StringRef Part : DependsOn)
    Add(Part);
  return toHex(Hash.final(), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

Expected<std::string> cacheFolder() {
  if (const char *Chosen = getenv("CRSAN_CACHE_DIR"); Chosen && *Chosen) {
    SmallString<128> Absolute(Chosen);
    sys::fs::make_absolute(Absolute);
    return Absolute.str().str();
  }
  SmallString<128> Usual;
  if (!sys::path::cache_directory(Usual) || !sys::path::is_absolute(Usual))
    return createStringError(
        "there is no cache folder, since HOME is not set to an absolute path; "
        "set CRSAN_CACHE_DIR to a folder that can be written");
  sys::path::append(Usual, "crsan");
  return Usual.str().str();
}

/// The most bytes that a folder may have; 0: there shall be none.
static Expected<uint64_t> mostBytes() {
  const char *Chosen = getenv("CRSAN_CACHE_MIB");
  uint64_t MiB = 1024;
  if (Chosen && *Chosen && StringRef(Chosen).getAsInteger(10, MiB))
    return createStringError("CRSAN_CACHE_MIB=" + StringRef(Chosen) +
                             ": write a number of MiB; 0: no cache");
  return MiB << 20;
}

/// What a file that is whole has; nothing if there is none.
static std::optional<std::string> readWhole(StringRef Path) {
  // The files that were read last are kept longest.
  Expected<sys::fs::file_t> File =
      sys::fs::openNativeFileForRead(Path, sys::fs::OF_UpdateAtime);
  if (!File) {
    consumeError(File.takeError());
    return std::nullopt;
  }
  auto Buffer = MemoryBuffer::getOpenFile(*File, Path, /*FileSize=*/-1);
  sys::fs::closeFile(*File);
  if (!Buffer)
    return std::nullopt;
  StringRef Bytes = (*Buffer)->getBuffer();
  return Bytes.consume_back(End) ? std::optional(Bytes.str()) : std::nullopt;
}

static Error cannotWrite(StringRef Path, std::error_code EC) {
  return createStringError("cannot write '" + Path + "': " + EC.message() +
                           "; set CRSAN_CACHE_DIR to a folder that can be "
                           "written, or CRSAN_CACHE_MIB=0");
}

/// Writes a file, which appears whole or not at all.
static Error write(StringRef Path, StringRef Bytes) {
  const StringRef Folder = sys::path::parent_path(Path);
  if (std::error_code EC = sys::fs::create_directories(Folder))
    return cannotWrite(Folder, EC);
  // Begins as FilePrefix, so that what a killed process leaves is removed, too.
  Expected<sys::fs::TempFile> Making = sys::fs::TempFile::create(
      Folder + "/" + FilePrefix + "making-%%%%%%%%", 0644);
  if (!Making)
    return cannotWrite(Folder, errorToErrorCode(Making.takeError()));
  raw_fd_ostream Out(Making->FD, /*shouldClose=*/false);
  Out << Bytes << End;
  Out.flush();
  const std::error_code EC = Out.error();
  Out.clear_error();
  if (!EC)
    return Making->keep(Path);
  consumeError(Making->discard());
  return cannotWrite(Folder, EC);
}

/// Removes what was not used for longest, or for three months.
static void prune(StringRef Folder, uint64_t MostBytes) {
  CachePruningPolicy Policy;
  Policy.Interval = std::chrono::seconds(0);
  Policy.Expiration = std::chrono::hours(24 * 90);
  Policy.MaxSizeBytes = MostBytes;
  pruneCache(Folder, Policy);
}

Expected<Cached> cached(StringRef Kind, ArrayRef<StringRef> DependsOn,
                        function_ref<Expected<std::string>()> Make) {
  Cached C;
  Expected<uint64_t> MostBytes = mostBytes();
  if (!MostBytes)
    return MostBytes.takeError();
  std::string Folder, Path;
  // A program without a hash cannot tell what it made from what another did.
  if (const std::string Build = ownBuild(); *MostBytes && !Build.empty()) {
    if (Expected<std::string> All = cacheFolder()) {
      Folder = *All + "/" + Kind.str();
      Path = Folder + "/" + FilePrefix.str() + keyOf(DependsOn, Build);
    } else {
      C.WhyNot = toString(All.takeError());
    }
  }
  if (!Path.empty())
    if (std::optional<std::string> Found = readWhole(Path)) {
      C.Bytes = std::move(*Found);
      C.WasThere = true;
      return C;
    }
  Expected<std::string> Made = Make();
  if (!Made)
    return Made.takeError();
  C.Bytes = std::move(*Made);
  if (Path.empty())
    return C;
  if (Error E = write(Path, C.Bytes))
    C.WhyNot = toString(std::move(E));
  else
    prune(Folder, *MostBytes);
  return C;
}

} // namespace crsan::driver

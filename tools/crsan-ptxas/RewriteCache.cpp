// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX that got checks in an earlier run.

#include "RewriteCache.h"
#include "CacheFolder.h"
#include "ProjectVersion.h"
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

namespace crsan::ptxas {

/// A text that was not written to its end lacks it.
static constexpr StringLiteral End = "\n// crsan end of text\n";

/// LLVM's function for pruning removes files of such names only.
static constexpr StringLiteral FilePrefix = "llvmcache-";

//===----------------------------------------------------------------------===//
// What a text depends on
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

static std::string keyOf(StringRef PTX, Mode Checks, StringRef Build) {
  SHA256 Hash;
  Hash.update(versionLine());
  Hash.update(StringRef("\0", 1));
  Hash.update(Build);
  Hash.update(std::to_string(unsigned(Checks)));
  Hash.update(PTX);
  return toHex(Hash.final(), /*LowerCase=*/true);
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// The most bytes that the folder may have; 0: there shall be none.
static Expected<uint64_t> mostBytes() {
  const char *Chosen = getenv("CRSAN_CACHE_MIB");
  uint64_t MiB = 1024;
  if (Chosen && *Chosen && StringRef(Chosen).getAsInteger(10, MiB))
    return createStringError("CRSAN_CACHE_MIB=" + StringRef(Chosen) +
                             ": write a number of MiB; 0: no cache");
  return MiB << 20;
}

/// The text in a file that is whole; nothing if there is none.
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
  StringRef Text = (*Buffer)->getBuffer();
  return Text.consume_back(End) ? std::optional(Text.str()) : std::nullopt;
}

static Error cannotWrite(StringRef Path, std::error_code EC) {
  return createStringError("cannot write '" + Path + "': " + EC.message() +
                           "; set CRSAN_CACHE_DIR to a folder that can be "
                           "written, or CRSAN_CACHE_MIB=0");
}

/// Writes a file, which appears whole or not at all.
static Error write(StringRef Path, StringRef Text) {
  const StringRef Folder = sys::path::parent_path(Path);
  if (std::error_code EC = sys::fs::create_directories(Folder))
    return cannotWrite(Folder, EC);
  // Begins as FilePrefix, so that what a killed process leaves is removed, too.
  Expected<sys::fs::TempFile> Making = sys::fs::TempFile::create(
      Folder + "/" + FilePrefix + "making-%%%%%%%%", 0644);
  if (!Making)
    return cannotWrite(Folder, errorToErrorCode(Making.takeError()));
  raw_fd_ostream Out(Making->FD, /*shouldClose=*/false);
  Out << Text << End;
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

Expected<CachedText>
cached(StringRef PTX, Mode Checks, StringRef Rest,
       const std::function<Expected<std::string>()> &Make) {
  CachedText C;
  Expected<uint64_t> MostBytes = mostBytes();
  if (!MostBytes)
    return MostBytes.takeError();
  std::string Folder, Path;
  // A program without a hash cannot tell its own texts from another's.
  if (const std::string Build = ownBuild(); *MostBytes && !Build.empty()) {
    if (Expected<std::string> All = driver::cacheFolder()) {
      Folder = *All + "/ptx";
      Path = Folder + "/" + FilePrefix.str() +
             keyOf(PTX, Checks, Build + Rest.str());
    } else {
      C.WhyNot = toString(All.takeError());
    }
  }
  if (!Path.empty())
    if (std::optional<std::string> Found = readWhole(Path)) {
      C.Text = std::move(*Found);
      C.WasThere = true;
      return C;
    }
  Expected<std::string> Made = Make();
  if (!Made)
    return Made.takeError();
  C.Text = std::move(*Made);
  if (Path.empty())
    return C;
  if (Error E = write(Path, C.Text))
    C.WhyNot = toString(std::move(E));
  else
    prune(Folder, *MostBytes);
  return C;
}

} // namespace crsan::ptxas

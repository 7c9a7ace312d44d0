// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A toolkit whose nvcc makes checked code.
#include "ToolkitView.h"
#include "Cache.h"
#include "ProjectVersion.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"

using namespace crsan::nvcc;
using crsan::driver::Installation;
using llvm::StringRef;
using llvm::Twine;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static llvm::Error cannotWrite(const Twine &Path, std::error_code EC) {
  return llvm::createStringError(
      "cannot write '" + Path + "': " + EC.message() +
      "; set CRSAN_CACHE_DIR to a folder that can be written");
}

/// A linker script that takes the host part, whole, and the wrappers.
static std::string linkScript(const Installation &Where) {
  return "EXTERN(crsanTellLaunch crsanTellHostCode crsanMemoryAllocated "
         "crsan_count_races)\nINPUT(\"" +
         Where.hostRuntime() + "\" \"" + Where.wrappers() + "\")\n";
}

/// A text that differs where the view would: a toolkit that was replaced in its
/// place has other dates.
static std::string identity(const RealNvcc &Real, const Installation &Where,
                            StringRef Mode) {
  std::string Text;
  llvm::raw_string_ostream Out(Text);
  Out << Real.Root << '\n'
      << Where.Root << '\n'
      << crsan::versionLine() << '\n'
      << linkScript(Where);
  for (const std::string &File : {Real.nvcc(), Real.profile(), Real.cicc()}) {
    fs::file_status Status;
    if (!fs::status(File, Status))
      Out << Status.getSize() << ' '
          << Status.getLastModificationTime().time_since_epoch().count()
          << '\n';
  }
  return llvm::utohexstr(llvm::xxh3_64bits(Text), /*LowerCase=*/true) + "-" +
         Mode.str();
}

static std::string shellQuoted(StringRef Word) {
  std::string Out = "'";
  for (char C : Word)
    Out += C == '\'' ? std::string("'\\''") : std::string(1, C);
  return Out + "'";
}

namespace {
/// Makes a view in a folder of its own.
class Builder {
public:
  Builder(const RealNvcc &Real, const Installation &Where, StringRef Mode,
          StringRef Folder)
      : Real(Real), Where(Where), Mode(Mode), Folder(Folder) {}

  llvm::Error build() {
    for (const char *Sub : {"bin", "nvvm/bin", "crsan"})
      if (std::error_code EC = fs::create_directories(below(Sub)))
        return cannotWrite(below(Sub), EC);
    if (llvm::Error E = linkTools())
      return E;
    if (llvm::Error E = writeProfile())
      return E;
    if (llvm::Error E =
            writeScript("nvvm/bin/cicc", "--crsan-cicc=" + Real.cicc()))
      return E;
    if (llvm::Error E =
            writeScript("bin/ptxas", "--crsan-toolkit=" + Real.Root))
      return E;
    return writeOwn();
  }

private:
  const RealNvcc &Real;
  const Installation &Where;
  const StringRef Mode, Folder;

  std::string below(const Twine &Name) const {
    return (Folder + "/" + Name).str();
  }

  llvm::Error link(const Twine &To, const Twine &Name) {
    if (std::error_code EC = fs::create_link(To, below(Name)))
      return cannotWrite(below(Name), EC);
    return llvm::Error::success();
  }

  llvm::Error linkTools() {
    std::error_code EC;
    for (fs::directory_iterator I(Real.Root + "/bin", EC), E; I != E && !EC;
         I.increment(EC)) {
      const StringRef Name = path::filename(I->path());
      if (Name != "ptxas" && Name != "nvcc.profile")
        if (llvm::Error E = link(I->path(), "bin/" + Name))
          return E;
    }
    return link(Real.Root + "/targets", "targets");
  }

  /// The toolkit's profile, with all folders but those of the tools as they
  /// are there.
  llvm::Error writeProfile() {
    auto Buffer = llvm::MemoryBuffer::getFile(Real.profile());
    if (!Buffer)
      return llvm::createStringError("cannot read '" + Real.profile() +
                                     "': " + Buffer.getError().message());
    std::string Text;
    bool HasCompiler = false;
    for (StringRef Line : llvm::split((*Buffer)->getBuffer(), '\n')) {
      if (Line.starts_with("CICC_PATH")) {
        Text += "CICC_PATH = $(_HERE_)/../nvvm/bin\n";
        HasCompiler = true;
        continue;
      }
      const StringRef Above = "$(_HERE_)/..";
      for (size_t At; (At = Line.find(Above)) != StringRef::npos;
           Line = Line.drop_front(At + Above.size()))
        Text += (Line.take_front(At) + Real.Root).str();
      Text += (Line + "\n").str();
    }
    if (!HasCompiler)
      return llvm::createStringError(
          "'" + Real.profile() +
          "' does not say where cicc is (CICC_PATH), so that CRSan cannot take "
          "its place; set CUDA_PATH to NVIDIA's own CUDA 13 toolkit");
    return write("bin/nvcc.profile", Text);
  }

  llvm::Error writeScript(const Twine &Name, const std::string &Option) {
    const std::string Text =
        "#!/bin/sh\nexec " + shellQuoted(Where.assembler()) + " " +
        shellQuoted(Option) + " --crsan-mode=" + Mode.str() + " \"$@\"\n";
    if (llvm::Error E = write(Name, Text))
      return E;
    if (std::error_code EC = fs::setPermissions(below(Name), fs::all_all))
      return cannotWrite(below(Name), EC);
    return llvm::Error::success();
  }

  llvm::Error writeOwn() {
    const std::string Library = Where.libraryDir() + "/libcrsan.so";
    if (llvm::Error E = write(
            "crsan/object.h",
            "#include \"" + Where.markHeader() +
                "\"\n#ifndef __CUDA_ARCH__\n"
                "__attribute__((section(\"__crsan_library\"), used)) static "
                "const char __crsan_library[] =\n    \"" +
                Library + "\";\n#endif\n"))
      return E;
    return write("crsan/libcrsan_link.a", linkScript(Where));
  }

  llvm::Error write(const Twine &Name, StringRef Text) {
    std::error_code EC;
    llvm::raw_fd_ostream Out(below(Name), EC);
    Out << Text;
    Out.close();
    if (!EC)
      EC = Out.error();
    Out.clear_error();
    return EC ? cannotWrite(below(Name), EC) : llvm::Error::success();
  }
};
} // namespace

llvm::Expected<ToolkitView> ToolkitView::make(const RealNvcc &Real,
                                              const Installation &Where,
                                              const std::string &Mode) {
  llvm::Expected<std::string> Cache = crsan::driver::cacheFolder();
  if (!Cache)
    return Cache.takeError();
  const std::string All = *Cache + "/nvcc";
  const ToolkitView View{All + "/" + identity(Real, Where, Mode)};
  if (fs::exists(View.nvcc()))
    return View;
  if (llvm::Error E = Real.checkVersion())
    return std::move(E);
  if (std::error_code EC = fs::create_directories(All))
    return cannotWrite(All, EC);
  // A view appears whole, by its last name.
  llvm::SmallString<128> Making;
  if (std::error_code EC = fs::createUniqueDirectory(All + "/making", Making))
    return cannotWrite(All, EC);
  llvm::Error Failure = Builder(Real, Where, Mode, Making).build();
  if (!Failure) {
    const std::error_code EC = fs::rename(Making, View.Folder);
    if (!EC)
      return View;
    if (!fs::exists(View.nvcc()))
      Failure = cannotWrite(View.Folder, EC);
  }
  // Another process was faster, or there is an error.
  fs::remove_directories(Making);
  if (Failure)
    return std::move(Failure);
  return View;
}

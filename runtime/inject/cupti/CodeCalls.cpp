// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about code and contexts.

#include "cupti/CodeCalls.h"

#include "common/CallSites.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "image/Fatbin.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

namespace crsan {

namespace {
/// What the driver loads in the place of what the program gave it.
struct Replacement {
  std::string Image;
  std::string Name; ///< Of a file with the image.
  int File = -1;
  bool IsKept = false;
};
} // namespace

/// The options as those of ptxas, as far as they decide whether a kernel can be
/// launched, and how fast it is.
static std::vector<std::string> ptxasOptions(const JitOptions &Jit) {
  std::vector<std::string> Words;
  unsigned Registers = 0;
  const auto Limit = [&](unsigned Most) {
    if (Most)
      Registers = Registers ? std::min(Registers, Most) : Most;
  };
  for (unsigned I = 0; I < Jit.Count; ++I) {
    const auto Value = unsigned(reinterpret_cast<uintptr_t>(Jit.Values[I]));
    switch (Jit.Names[I]) {
    case CU_JIT_MAX_REGISTERS:
      Limit(Value);
      break;
    case CU_JIT_THREADS_PER_BLOCK: // These must have registers.
      Limit(Value ? std::max(65536 / Value / 8 * 8, 16u) : 0);
      break;
    case CU_JIT_OPTIMIZATION_LEVEL:
      Words.push_back(fmt::format("-O{}", std::min(Value, 4u)));
      break;
    default:
      break;
    }
  }
  if (Registers)
    Words.push_back(
        fmt::format("--maxrregcount={}", std::min(Registers, 255u)));
  return Words;
}

void imageLoading(const DriverCall &C, const void *const &Image,
                  const JitOptions &Jit, bool IsKept) {
  C.kept() = 0;
  if (!C.S.addsChecks() || !Image)
    return;
  std::string Name = fileOfAddress(Image);
  if (Name.empty())
    Name = fmt::format("a module in memory ({})", C.Data.functionName);
  std::string New = C.S.codeLoading(Image, Name, ptxasOptions(Jit));
  if (New.empty())
    return;
  auto *R = new Replacement{.Image = std::move(New), .IsKept = IsKept};
  C.kept() = reinterpret_cast<uintptr_t>(R);
  replace(Image, static_cast<const void *>(R->Image.data()));
}

/// Makes a file of the image that has no name in any folder. False: there is no
/// memory for it.
static bool makeFile(Replacement &R) {
  R.File = memfd_create("crsan", MFD_CLOEXEC);
  for (std::string_view Rest = R.Image; R.File >= 0 && !Rest.empty();) {
    const ssize_t Written = write(R.File, Rest.data(), Rest.size());
    if (Written <= 0 && errno != EINTR)
      return false;
    Rest.remove_prefix(size_t(std::max(Written, ssize_t(0))));
  }
  R.Name = fmt::format("/proc/self/fd/{}", R.File);
  return access(R.Name.c_str(), R_OK) == 0;
}

static std::string contents(const char *File) {
  std::error_code Error;
  if (!File || !std::filesystem::is_regular_file(File, Error))
    return {};
  std::ifstream Stream(File, std::ios::binary);
  return {std::istreambuf_iterator<char>(Stream), {}};
}

void fileLoading(const DriverCall &C, const char *const &File,
                 const JitOptions &Jit) {
  C.kept() = 0;
  if (!C.S.addsChecks())
    return;
  // What is not whole, the driver refuses.
  const std::string Bytes = contents(File);
  if (!isWholeImage(
          {reinterpret_cast<const uint8_t *>(Bytes.data()), Bytes.size()}))
    return;
  auto R = std::make_unique<Replacement>();
  R->Image = C.S.codeLoading(Bytes.data(), File, ptxasOptions(Jit));
  if (R->Image.empty())
    return;
  if (!makeFile(*R)) {
    C.S.note(fmt::format("code of {} is not checked: there is no memory for a "
                         "file with checks",
                         File));
    if (R->File >= 0)
      close(R->File);
    return;
  }
  replace(File, R->Name.c_str());
  C.kept() = reinterpret_cast<uintptr_t>(R.release());
}

void loadingOver(const DriverCall &C) {
  std::unique_ptr<Replacement> R(reinterpret_cast<Replacement *>(C.kept()));
  if (!R)
    return;
  if (C.result() != CUDA_SUCCESS)
    C.S.note(fmt::format(
        "{} has refused code with checks ({}), so that the program did not get "
        "its code; run it with --detector=program, which adds no checks",
        C.Data.functionName, theDriver().errorName(C.result())));
  if (R->File >= 0)
    close(R->File);
  if (R->IsKept)
    R.release();
}

static void loaded(const DriverCall &C, CUlibrary Library, CUmodule Module,
                   const void *Bytes) {
  theLog().detail(2, "{}: context {} (uid {})", C.Data.functionName,
                  static_cast<void *>(C.Data.context), C.Data.contextUid);
  C.S.codeLoaded(Library, Module, Bytes, C.Data.context, C.Data.contextUid);
}

void libraryLoaded(const DriverCall &C, CUlibrary Library, const void *Bytes) {
  loaded(C, Library, nullptr, Bytes);
}

void moduleLoaded(const DriverCall &C, CUmodule Module, const void *Bytes) {
  loaded(C, nullptr, Module, Bytes);
}

void contextSynchronising(const DriverCall &C, CUcontext Ctx) {
  C.kept() = C.S.ordering().awaitingIdle(Ctx);
}

void contextSynchronised(const DriverCall &C, CUcontext Ctx) {
  C.S.synchronised(Ctx, C.result());
  if (C.result() == CUDA_SUCCESS)
    C.S.becameIdle(Ctx, C.kept());
}

} // namespace crsan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls about code and contexts.

#include "cupti/CodeCalls.h"

#include "common/Driver.h"
#include "common/Log.h"
#include "image/Fatbin.h"
#include "session/Session.h"

#include <fmt/format.h>

#include <cerrno>
#include <deque>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace crsan {

/// Lets the driver read another value where the program gave one. CUPTI does
/// not promise that the driver does so. Should one not do it, the program's own
/// code runs, and the report counts its launches as unchecked.
template <typename T> static void replace(const T &Parameter, T Value) {
  const_cast<T &>(Parameter) = Value;
}

/// What the report calls an image.
static std::string nameOf(const void *Image, const char *Call) {
  Dl_info Where{};
  return dladdr(Image, &Where) && Where.dli_fname
             ? std::string(Where.dli_fname)
             : fmt::format("a module in memory ({})", Call);
}

void imageLoading(const DriverCall &C, const void *const &Image) {
  const void *New = C.S.codeLoading(Image, nameOf(Image, C.Data.functionName));
  C.kept() = New != Image;
  replace(Image, New);
}

/// A file of these bytes that exists in this process alone, or null.
static const char *fileOf(const void *Fatbin) {
  const std::span<const uint8_t> Bytes = wholeFatbin(Fatbin);
  const int File = memfd_create("crsan", MFD_CLOEXEC);
  if (File < 0)
    return nullptr;
  for (std::span<const uint8_t> Rest = Bytes; !Rest.empty();) {
    const ssize_t Written = write(File, Rest.data(), Rest.size());
    if (Written < 0 && errno == EINTR)
      continue;
    if (Written <= 0) {
      close(File);
      return nullptr;
    }
    Rest = Rest.subspan(size_t(Written));
  }
  // The driver may read the file later, too: it stays open.
  static std::mutex Adding;
  static std::deque<std::string> Names;
  std::lock_guard Lock(Adding);
  return Names.emplace_back(fmt::format("/proc/self/fd/{}", File)).c_str();
}

void fileLoading(const DriverCall &C, const char *const &File) {
  C.kept() = false;
  std::ifstream Stream(File ? File : "", std::ios::binary);
  std::string Bytes{std::istreambuf_iterator<char>(Stream), {}};
  if (Bytes.empty())
    return; // The driver says what is wrong.
  // Eight bytes at a time, as images in a program lie.
  Bytes.append(8, '\0');
  const void *New = C.S.codeLoading(Bytes.data(), File);
  if (New == Bytes.data())
    return;
  if (const char *Name = fileOf(New)) {
    C.kept() = true;
    replace(File, Name);
  } else {
    C.S.note(fmt::format("code of {} is not checked: there is no memory for a "
                         "file with checks",
                         File));
  }
}

void loadingFailed(const DriverCall &C) {
  if (C.kept())
    C.S.note(fmt::format("{} has refused code with checks ({}); run the "
                         "program with --detector=program to run it without",
                         C.Data.functionName,
                         theDriver().errorName(C.result())));
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

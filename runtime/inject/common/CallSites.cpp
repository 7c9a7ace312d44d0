// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where the program calls CUDA.

#include "common/CallSites.h"

#include "Report/Demangle.h"
#include "common/Flags.h"
#include "session/Ending.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include <execinfo.h>
#include <link.h>
#include <unistd.h>

namespace crsan {

CallSites &callSites() {
  // Never destroyed: reports are made late.
  static auto *All = new CallSites;
  return *All;
}

static std::string_view baseName(std::string_view Path) {
  return Path.substr(Path.find_last_of('/') + 1);
}

/// Libraries between a call of the user's and this library.
static bool isBetween(std::string_view Path) {
  static constexpr std::string_view Names[] = {
      "libcrsan", "libcudart", "libcuda.",   "libcupti", "libnvrtc",
      "libc.so",  "ld-linux",  "libstdc++.", "libgcc_s"};
  const std::string_view Name = baseName(Path);
  return std::any_of(
      std::begin(Names), std::end(Names),
      [=](std::string_view Known) { return Name.starts_with(Known); });
}

/// The program's own file has no path in the loader's list.
static std::string pathOf(const std::string &Name) {
  static const std::string Program = [] {
    char Path[4096];
    const ssize_t Size = readlink("/proc/self/exe", Path, sizeof(Path));
    return Size > 0 ? std::string(Path, size_t(Size)) : std::string();
  }();
  return Name.empty() ? Program : Name;
}

static LoadedFiles loadedFiles() {
  LoadedFiles Files;
  dl_iterate_phdr(
      [](dl_phdr_info *Info, size_t, void *To) {
        *static_cast<LoadedFiles *>(To) = {Info->dlpi_adds, Info->dlpi_subs};
        return 1; // The first file tells all.
      },
      &Files);
  return Files;
}

CallSites::CallSites() {
  // The first call of backtrace() loads a library, which takes longer than a
  // launch: so it is made before the program launches anything.
  void *Found[1];
  backtrace(Found, 1);
}

uint32_t CallSites::note() {
  constexpr size_t MostFrames = 48, MostKnown = 1 << 14;
  void *Found[MostFrames];
  const int Count = backtrace(Found, MostFrames);
  if (Count <= 1)
    return 0;
  const Frames Returns(Found + 1, Found + Count);
  // Another file may come to the addresses of one that is unloaded.
  const LoadedFiles Now = loadedFiles();
  {
    std::lock_guard Guard(Lock);
    if (Now != AtKnown || Known.size() >= MostKnown)
      Known.clear();
    AtKnown = Now;
    if (const auto It = Known.find(Returns); It != Known.end())
      return It->second;
  }
  const uint32_t Number = number(Returns);
  std::lock_guard Guard(Lock);
  if (Now == AtKnown)
    Known.emplace(Returns, Number);
  return Number;
}

namespace {
/// A return address, with the file of code that it is in.
struct FoundAddress {
  uint64_t Address;
  bool IsFound = false;
  const char *File = ""; ///< As the loader names it: empty for the program.
  uint64_t Base = 0;
};
} // namespace

/// Looks the addresses up in what is loaded, and is not unloaded while it is on
/// this thread's stack. dladdr() would go through all
/// symbols of each file, which takes long in large libraries.
static void find(std::vector<FoundAddress> &Addresses) {
  dl_iterate_phdr(
      [](dl_phdr_info *Info, size_t, void *To) {
        for (FoundAddress &A : *static_cast<std::vector<FoundAddress> *>(To)) {
          const auto *First = Info->dlpi_phdr;
          const auto Holds = [&](const ElfW(Phdr) & Part) {
            return Part.p_type == PT_LOAD &&
                   A.Address - Info->dlpi_addr - Part.p_vaddr < Part.p_memsz;
          };
          if (!A.IsFound && std::any_of(First, First + Info->dlpi_phnum, Holds))
            A = {A.Address, true, Info->dlpi_name ? Info->dlpi_name : "",
                 Info->dlpi_addr};
        }
        return 0;
      },
      &Addresses);
}

std::string fileOfAddress(const void *Address) {
  std::vector<FoundAddress> One = {{reinterpret_cast<uintptr_t>(Address)}};
  find(One);
  return One.front().IsFound ? pathOf(One.front().File) : std::string();
}

uint32_t CallSites::number(const Frames &Returns) {
  constexpr size_t MostKept = 6, MostStacks = 1 << 14;
  std::vector<FoundAddress> Addresses;
  // A return address may be that of the next function.
  for (void *Return : Returns)
    Addresses.push_back({reinterpret_cast<uintptr_t>(Return) - 1});
  find(Addresses);
  Stack Found;
  for (const FoundAddress &A : Addresses)
    if (A.IsFound && !isBetween(A.File) && Found.size() < MostKept)
      Found.push_back({pathOf(A.File), A.Address - A.Base});
  if (Found.empty())
    return 0;
  std::lock_guard Guard(Lock);
  if (Stacks.size() >= MostStacks)
    return 0;
  const auto [It, IsNew] =
      Numbers.try_emplace(std::move(Found), uint32_t(Stacks.size() + 1));
  if (IsNew)
    Stacks.push_back(&It->first);
  return It->second;
}

/// Paths below the working directory are relative, as compilers are given them.
static std::string_view relative(std::string_view File) {
  char Path[4096];
  if (getcwd(Path, sizeof(Path)))
    if (const std::string Folder = std::string(Path) + "/";
        File.starts_with(Folder))
      File.remove_prefix(Folder.size());
  return File;
}

static std::string words(const HostLine &L) {
  std::string_view File = relative(L.File);
  if (const std::string_view Prefix = readOptions().strip_path_prefix;
      File.starts_with(Prefix))
    File.remove_prefix(Prefix.size());
  return fmt::format("{}:{}{}", File, L.Line,
                     L.Function.empty() ? "" : " in " + L.Function);
}

const HostLine *userLine(const std::vector<HostLine> &Stack,
                         std::string_view Kernel) {
  const std::string_view Stub = unqualified(functionName(Kernel));
  bool HasStub = !Stub.empty();
  const auto IsUsers = [&](const HostLine &L) {
    const std::string_view Function = L.Function, File = L.File;
    if (HasStub && unqualified(functionName(Function)) == Stub)
      return HasStub = false;
    return !File.empty() && !Function.starts_with("__device_stub__") &&
           !Function.starts_with("__wrap_") && !Function.starts_with("crsan") &&
           File.find("/cuda_runtime") == File.npos &&
           File.find("/__clang_cuda") == File.npos &&
           File.find("/crt/host_runtime") == File.npos &&
           File.find("/runtime/host/") == File.npos &&
           !File.starts_with("/usr/include/");
  };
  const auto Found = std::find_if(Stack.begin(), Stack.end(), IsUsers);
  return Found == Stack.end() ? nullptr : &*Found;
}

std::string CallSites::text(uint32_t Site, std::string_view Kernel) const {
  std::lock_guard Guard(Lock);
  if (!Site || Site > Lines.size())
    return {};
  const HostLine *Line = userLine(Lines[Site - 1], Kernel);
  return Line ? words(*Line) : "";
}

std::optional<SourceFrame> CallSites::frame(uint32_t Site) const {
  std::lock_guard Guard(Lock);
  const HostLine *Line = Site && Site <= Lines.size()
                             ? userLine(Lines[Site - 1], /*Kernel=*/{})
                             : nullptr;
  if (!Line)
    return std::nullopt;
  return SourceFrame{Line->Function, std::string(relative(Line->File)),
                     Line->Line};
}

bool CallSites::lookUp() {
  std::vector<Stack> New;
  size_t Known;
  {
    std::lock_guard Guard(Lock);
    Known = Lines.size();
    for (size_t I = Known; I < Stacks.size(); ++I)
      New.push_back(*Stacks[I]);
  }
  if (New.empty())
    return false;
  std::map<std::string, std::vector<uint64_t>> ByFile;
  for (const Stack &S : New)
    for (const CodeAddress &A : S)
      ByFile[A.File].push_back(A.Address);
  std::map<CodeAddress, std::vector<HostLine>> Found;
  for (auto &[File, Addresses] : ByFile) {
    std::sort(Addresses.begin(), Addresses.end());
    Addresses.erase(std::unique(Addresses.begin(), Addresses.end()),
                    Addresses.end());
    std::vector<std::vector<HostLine>> Each = symbolize(File, Addresses);
    for (size_t I = 0; I < Each.size() && Each.size() == Addresses.size(); ++I)
      Found[{File, Addresses[I]}] = std::move(Each[I]);
  }
  std::lock_guard Guard(Lock);
  if (Lines.size() != Known)
    return true; // Another thread was faster.
  for (const Stack &S : New) {
    std::vector<HostLine> &All = Lines.emplace_back();
    for (const CodeAddress &A : S)
      if (const auto It = Found.find(A); It != Found.end())
        All.insert(All.end(), It->second.begin(), It->second.end());
  }
  return true;
}

void LaunchSites::note(bool IsTwin) {
  constexpr uint64_t Many = 32;
  const uint64_t Count = IsTwin ? ++OfTwin : ++Launches;
  const bool IsNoted =
      Count >= Many ? (Count & (Count - 1)) == 0 : !IsTwin || Count <= 2;
  if (IsNoted)
    Sites.insert(callSites().note());
}

std::string LaunchSites::text(std::string_view Kernel) const {
  constexpr size_t Most = 3;
  std::set<std::string> Texts;
  for (const uint32_t Site : Sites)
    Texts.insert(callSites().text(Site, Kernel));
  Texts.erase("");
  std::string All;
  size_t Count = 0;
  for (const std::string &Text : Texts)
    if (++Count <= Most)
      All += (All.empty() ? "" : ", ") + Text;
  return Count > Most ? All + " and elsewhere" : All;
}

} // namespace crsan

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The callbacks of CUPTI.

#include "cupti/Cupti.h"

#include <cstdlib>
#include <vector>

#include <dlfcn.h>
#include <glob.h>

namespace crsan {

static constexpr const char *Sonames[] = {"libcupti.so.13", "libcupti.so.12"};

static std::string ownDirectory() {
  Dl_info Info;
  if (!dladdr(reinterpret_cast<void *>(&ownDirectory), &Info) ||
      !Info.dli_fname)
    return {};
  std::string Path = Info.dli_fname;
  size_t Slash = Path.rfind('/');
  return Slash == Path.npos ? "." : Path.substr(0, Slash);
}

/// The newest first: glob sorts by name.
static std::vector<std::string> matches(const char *Pattern) {
  std::vector<std::string> Found;
  glob_t Result;
  if (glob(Pattern, 0, nullptr, &Result) == 0)
    for (size_t I = Result.gl_pathc; I-- > 0;)
      Found.emplace_back(Result.gl_pathv[I]);
  globfree(&Result);
  return Found;
}

/// Where CUPTI may be; "" is the loader's search path. What the user names
/// comes before what lies beside this library, and that before what happens to
/// be installed.
static std::vector<std::string> directories() {
  std::vector<std::string> Found = {""};
  auto AddToolkit = [&Found](const std::string &Toolkit) {
    for (const char *Place :
         {"/extras/CUPTI/lib64", "/lib64", "/lib", "/targets/x86_64-linux/lib",
          "/targets/sbsa-linux/lib"})
      Found.push_back(Toolkit + Place);
  };
  for (const char *Variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *Value = std::getenv(Variable); Value && *Value)
      AddToolkit(Value);
  if (std::string Own = ownDirectory(); !Own.empty())
    Found.push_back(Own);
  AddToolkit("/usr/local/cuda");
  for (const std::string &Toolkit : matches("/usr/local/cuda-*"))
    AddToolkit(Toolkit);
  return Found;
}

bool Cupti::load() {
  for (const std::string &Directory : directories())
    for (const char *Soname : Sonames) {
      std::string File = Directory.empty() ? Soname : Directory + "/" + Soname;
      void *Library = dlopen(File.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!Library)
        continue;
      auto Find = [Library](auto &Function, const char *Name) {
        Function =
            reinterpret_cast<std::remove_reference_t<decltype(Function)>>(
                dlsym(Library, Name));
      };
      Find(Subscribe, "cuptiSubscribe");
      Find(EnableCallback, "cuptiEnableCallback");
      Find(GetResultString, "cuptiGetResultString");
      Find(GetVersion, "cuptiGetVersion");
      Find(GetCallbackName, "cuptiGetCallbackName");
      Find(SetAttribute, "cuptiActivitySetAttribute");
      Path = File;
      if (Subscribe && EnableCallback) {
        saveMemory();
        return true;
      }
      dlclose(Library);
    }
  return false;
}

/// CUPTI reserves 12 MiB of device memory in every context for timestamps,
/// which the library does not use.
void Cupti::saveMemory() const {
  if (!SetAttribute)
    return;
  auto Set = [this](CUpti_ActivityAttribute Attribute, size_t Value) {
    size_t Size = sizeof(Value);
    SetAttribute(Attribute, &Size, &Value);
  };
  Set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, 64 << 10);
  Set(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, 1);
}

std::string Cupti::resultText(CUptiResult Result) const {
  const char *Text = nullptr;
  if (!GetResultString || GetResultString(Result, &Text) != CUPTI_SUCCESS ||
      !Text)
    return "CUPTI error " + std::to_string(int(Result));
  return Text;
}

} // namespace crsan

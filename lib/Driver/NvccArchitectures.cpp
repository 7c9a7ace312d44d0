// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The architectures that -arch, -code and -gencode name.
#include "NvccArchitectures.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace crsan::driver;
using llvm::StringRef;
using Words = std::vector<std::string>;

/// Those that both CUDA 13 and clang 22 know.
static constexpr StringRef All[] = {"75", "80",  "86",  "87",  "88", "89",
                                    "90", "100", "103", "120", "121"};
static constexpr StringRef AllMajor[] = {"75", "80", "90", "100", "120"};

static Words offloadArchs(llvm::ArrayRef<StringRef> Numbers) {
  Words Out;
  for (StringRef Number : Numbers)
    Out.push_back(("--offload-arch=sm_" + Number).str());
  return Out;
}

static llvm::Error unknownToClang(StringRef Name, StringRef Remedy) {
  return llvm::createStringError("'" + Name +
                                 "' is unknown to clang 22; write " + Remedy);
}

llvm::Expected<Words> crsan::driver::translateArchitecture(StringRef Name) {
  if (Name == "all")
    return offloadArchs(All);
  if (Name == "all-major")
    return offloadArchs(AllMajor);
  if (Name == "native") {
    if (llvm::sys::fs::exists("/dev/nvidiactl"))
      return Words{"--offload-arch=native"};
    llvm::errs() << "CRSan: warning: there is no GPU for -arch=native; the "
                    "code is for sm_75\n";
    return offloadArchs({"75"});
  }
  StringRef Number = Name;
  if (!Number.consume_front("sm_") && !Number.consume_front("compute_") &&
      !Number.consume_front("lto_"))
    return llvm::createStringError("'" + Name +
                                   "' is no architecture; write sm_90, say");
  if (Number.starts_with("110"))
    return unknownToClang(Name, "compute_103, whose PTX newer GPUs run");
  if (Number.ends_with("f"))
    return unknownToClang(Name, ("sm_" + Number.drop_back() + "a").str());
  return offloadArchs({Number});
}

llvm::Expected<Words> crsan::driver::translateCode(StringRef Value) {
  Words Out;
  llvm::SmallVector<StringRef, 4> Names;
  Value.trim("[]\"' ").split(Names, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef Name : Names) {
    llvm::Expected<Words> One = translateArchitecture(Name.trim("[]\"' "));
    if (!One)
      return One.takeError();
    for (std::string &Word : *One)
      if (!llvm::is_contained(Out, Word))
        Out.push_back(std::move(Word));
  }
  return Out;
}

llvm::Expected<Words> crsan::driver::translateGenerateCode(StringRef Value) {
  // arch=compute_90,code=[sm_90,compute_90]: without code= it is the former.
  const auto [Arch, Code] = Value.split("code=");
  if (!Code.empty())
    return translateCode(Code);
  StringRef Virtual = Arch.trim("\"', ");
  if (!Virtual.consume_front("arch="))
    return llvm::createStringError("'-gencode " + Value +
                                   "' has no arch=; write -gencode "
                                   "arch=compute_90,code=sm_90, say");
  return translateCode(Virtual);
}

std::string crsan::driver::listArchitectures(StringRef Prefix) {
  std::string Lines;
  for (StringRef Number : All)
    Lines += (Prefix + Number + "\n").str();
  return Lines;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code that the program has loaded.

#include "session/Modules.h"

#include "Report/Words.h"
#include "common/Driver.h"
#include "common/Log.h"
#include "host/HostChecks.h"
#include "session/TensorMaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <unordered_map>

namespace crsan {

/// No check counts at a kernel's own (abi::Sampling).
static size_t windowsOf(const DeviceUnit &Unit) {
  return std::ranges::count_if(Unit.Info.ChecksOfWindow,
                               [](uint32_t Checks) { return Checks != 0; });
}

bool Modules::addImage(std::span<const uint8_t> Cubin) {
  return addImage(readDeviceImage(Cubin, Sites));
}

bool Modules::addImage(std::span<const ImageObject> Objects) {
  return addImage(readDeviceImage(Objects, Sites));
}

bool Modules::addImage(std::unique_ptr<DeviceImage> Image) {
  if (!Image)
    return false;
  auto Known = std::find_if(Images.begin(), Images.end(), [&](const auto &E) {
    return E->Image.Hash == Image->Hash;
  });
  if (Known != Images.end()) {
    std::rotate(Known, Known + 1, Images.end());
    return true;
  }
  if (!Image->Problem.empty())
    theLog().say("{}; this module is not checked", Image->Problem);
  theLog().detail(2, "image {:016x}: {} units, shuffling {}", Image->Hash,
                  Image->Units.size(), Image->MayShuffle ? "allowed" : "off");
  for (const DeviceUnit &Unit : Image->Units)
    theLog().detail(2, "  unit {}: {} sites, {} windows, {} kernels, flags {}",
                    Unit.Suffix, Unit.Info.NumSites, windowsOf(Unit),
                    Unit.Info.Kernels.size(), Unit.Info.Flags);
  auto E = std::make_shared<Entry>();
  E->Image = std::move(*Image);
  Images.push_back(std::move(E));
  ++Generation;
  return true;
}

uint64_t Modules::addCode(LoadedCode Code) {
  Code.Serial = NextSerial++;
  Codes.push_back(Code);
  ++Generation;
  return Code.Serial;
}

bool Modules::lacksTables(uint64_t Serial) const {
  return std::any_of(Codes.begin(), Codes.end(), [=](const LoadedCode &Code) {
    return Code.Serial == Serial && Code.LacksTables;
  });
}

uint64_t Modules::find(CUlibrary Library, CUmodule Module) const {
  for (const LoadedCode &Code : Codes)
    if (Code.Library == Library && Code.Module == Module)
      return Code.Serial;
  return 0;
}

void Modules::removeCode(uint64_t Serial) {
  std::erase_if(Codes, [&](const LoadedCode &Code) {
    LostCodes += Code.Serial == Serial && Code.LacksTables;
    return Code.Serial == Serial;
  });
}

void Modules::configure(Context &Target) {
  std::vector<LoadedCode> Todo;
  uint64_t Seen;
  {
    std::lock_guard Lock(Data);
    Seen = Generation;
    for (const LoadedCode &Code : Codes)
      if (!Target.Configured.contains(Code.Serial) &&
          (Code.Library || Code.Owner == Target.Handle))
        Todo.push_back(Code);
  }
  for (const LoadedCode &Code : Todo)
    configureCode(Target, Code);
  // An image that was shown since (calls of the library load lazily loaded
  // code) has raised the generation, and the next launch tries again.
  std::lock_guard Lock(Data);
  Target.Generation = Seen;
}

static CUresult getGlobal(const LoadedCode &Code, const char *Name,
                          CUdeviceptr &Address, size_t &Size) {
  Driver &D = theDriver();
  Address = 0;
  Size = 0;
  if (Code.Module)
    return D.cuModuleGetGlobal(&Address, &Size, Code.Module, Name);
  if (!D.cuLibraryGetGlobal)
    return CUDA_ERROR_NOT_SUPPORTED;
  return D.cuLibraryGetGlobal(&Address, &Size, Code.Library, Name);
}

void Modules::configureCode(Context &Target, const LoadedCode &Code) {
  Driver &D = theDriver();
  Addresses Found;
  size_t Size = 0;
  CUresult Result = getGlobal(Code, abi::ConfigName, Found.Config, Size);
  theLog().detail(
      2, "code {}: {} is {} at {:#x}, {} bytes", Code.Serial, abi::ConfigName,
      Result ? D.errorName(Result) : std::string("there"), Found.Config, Size);
  if (Result != CUDA_SUCCESS || Size < sizeof(abi::Config))
    return markDone(Target, Code);
  // Makes sure that CUPTI has shown the image in this context.
  CUmodule Module = nullptr;
  if (Code.Library && D.cuLibraryGetModule)
    D.cuLibraryGetModule(&Module, Code.Library);

  std::shared_ptr<Entry> E = match(Code, Found);
  {
    std::lock_guard Lock(Data);
    for (LoadedCode &Known : Codes)
      if (Known.Serial == Code.Serial)
        Known.LacksTables = !E;
  }
  if (!E) {
    theLog().detail(2, "code {}: instrumented, no image matches yet",
                    Code.Serial);
    return;
  }
  if (E->Image.Problem.empty() && makeReady(Target))
    switchOn(Target, Code, *E, std::move(Found));
  markDone(Target, Code);
}

void Modules::switchOn(Context &Target, const LoadedCode &Code, Entry &E,
                       Addresses Found) {
  const bool IsShadowed = E.Image.hasMetadata() && makeShadow(Target);
  if (IsShadowed)
    shadowVariables(Target, Code, E.Image);
  nameVariables(Target, Code, E.Image);
  if (E.Image.has(abi::UnknownStack))
    if (const std::string Problem = Target.raiseStack(); !Problem.empty())
      theLog().say("{}", Problem);
  abi::Config Config =
      Target.makeConfig(Options, E.Image.MayShuffle, IsShadowed);
  if (const CUresult Result = Target.writeConfig(Found.Config, Config))
    return theLog().say("cannot switch on the checks of a module: {}; it is "
                        "not checked",
                        theDriver().errorText(Result));
  Target.Configs.push_back({Code.Serial, Found.Config, Config});
  theLog().detail(2,
                  "code {}: switched on image {:016x} on device {}, flags "
                  "{:#x}",
                  Code.Serial, E.Image.Hash, Target.Device, Config.Flags);
  std::lock_guard Lock(Data);
  E.IsOn = true;
  E.Codes.insert(Code.Serial);
  Target.noteCheckedCode();
  Shuffled |= (Config.Flags & abi::ShuffleBlocks) != 0;
  HasCollider |= E.Image.has(abi::HasCollider);
  for (const DeviceUnit &Unit : E.Image.Units) {
    const std::vector<std::string> &Names = Unit.Info.Kernels;
    Kernels.insert(Names.begin(), Names.end());
    if (IsShadowed) {
      ShadowedKernels.insert(Names.begin(), Names.end());
      HasShadowed = true;
    }
    const std::vector<std::string> &Waiting =
        E.Image.MayWait ? Names : Unit.Info.WaitingKernels;
    WaitingKernels.insert(Waiting.begin(), Waiting.end());
  }
  std::move(Found.Arrays.begin(), Found.Arrays.end(),
            std::back_inserter(Target.Arrays));
  std::move(Found.Covered.begin(), Found.Covered.end(),
            std::back_inserter(Target.Covered));
  std::move(Found.SharedUses.begin(), Found.SharedUses.end(),
            std::back_inserter(Target.SharedUses));
}

void Modules::markDone(Context &Target, const LoadedCode &Code) {
  std::lock_guard Lock(Data);
  Target.Configured.insert(Code.Serial);
}

std::shared_ptr<Modules::Entry> Modules::match(const LoadedCode &Code,
                                               Addresses &Found) {
  std::vector<std::shared_ptr<Entry>> Candidates;
  {
    std::lock_guard Lock(Data);
    Candidates.assign(Images.rbegin(), Images.rend());
  }
  for (const std::shared_ptr<Entry> &E : Candidates)
    if (resolve(Code, E->Image, Found))
      return E;
  return nullptr;
}

/// Finds an array, all of it.
template <typename T>
static void findArray(const LoadedCode &Code, const std::string &Name,
                      ArrayCopy<T> &Array) {
  size_t Size = 0;
  if (getGlobal(Code, Name.c_str(), Array.Address, Size) != CUDA_SUCCESS)
    Array.Address = 0;
  Array.Last.resize(Array.Address ? Size / sizeof(T) : 0);
}

static UnitCoverage coverageOf(const LoadedCode &Code, const DeviceUnit &Unit) {
  UnitCoverage Covered;
  Covered.Code = Code.Serial;
  Covered.WindowOfSite = Unit.Info.WindowOfSite;
  Covered.ChecksOfWindow = Unit.Info.ChecksOfWindow;
  if (Unit.Info.Flags & abi::HasCollider) {
    findArray(Code, Unit.sitesName(), Covered.Sites);
    findArray(Code, Unit.windowsName(), Covered.Windows);
  }
  if (Unit.Info.Flags & abi::HasMetadata)
    findArray(Code, Unit.accessesName(), Covered.Accesses);
  return Covered;
}

bool Modules::resolve(const LoadedCode &Code, const DeviceImage &Image,
                      Addresses &Found) {
  Found.Arrays.clear();
  Found.SharedUses.clear();
  Found.Covered.clear();
  for (const DeviceUnit &Unit : Image.Units) {
    CUdeviceptr Address = 0;
    size_t Size = 0;
    if (getGlobal(Code, Unit.tableName().c_str(), Address, Size) !=
        CUDA_SUCCESS)
      return false;
    const std::vector<SharedUseInfo> &SharedUses = Unit.Info.SharedUses;
    if (!SharedUses.empty() &&
        getGlobal(Code, Unit.sharedUsesName().c_str(), Address, Size) ==
            CUDA_SUCCESS &&
        Size >= SharedUses.size() * sizeof(uint32_t))
      Found.SharedUses.push_back({Code.Serial, Address, SharedUses, {}});
    if (Unit.Info.NumSites == 0)
      continue;
    if (Options.coverage)
      Found.Covered.push_back(coverageOf(Code, Unit));
    size_t Count = 0;
    if (getGlobal(Code, Unit.sitesName().c_str(), Address, Size) ==
        CUDA_SUCCESS)
      Count = std::min<size_t>(Size / sizeof(abi::Site), Unit.Info.NumSites);
    // Sites of metadata mode are elsewhere, and need nothing from here.
    if (Count < Unit.Info.NumSites && !(Unit.Info.Flags & abi::HasMetadata))
      return false;
    if (Count == 0)
      continue;
    SiteArray &Array = Found.Arrays.emplace_back();
    Array.Code = Code.Serial;
    Array.Address = Address;
    Array.Last.resize(Count);
  }
  return true;
}

bool Modules::makeReady(Context &Target) {
  if (Target.isPrepared() || !Target.CanCheck)
    return Target.CanCheck;
  std::string Error;
  CheckBuffers Buffers;
  if (Target.ComputeMajor < 7)
    Error = fmt::format("device {} has compute capability {}.x, CRSan needs "
                        "7.0 or newer; choose another with "
                        "CUDA_VISIBLE_DEVICES",
                        Target.Device, Target.ComputeMajor);
  else
    Buffers = CheckBuffers::make(Options.max_records, Error);
  if (Buffers.Records && Target.ComputeMajor >= 9)
    Buffers.TensorMaps = tensorMaps().share();
  if (Buffers.Records && hostChecks().hasCode())
    Buffers.HostWatchpoints = hostChecks().watch().share();
  if (!Buffers.Records)
    theLog().say("{}; kernels on this device are not checked", Error);
  std::lock_guard Lock(Data);
  Target.use(Buffers);
  return Target.CanCheck = Target.isPrepared();
}

bool Modules::makeShadow(Context &Target) {
  if (Target.TheShadow || !Target.CanShadow)
    return Target.CanShadow;
  std::string Error;
  std::unique_ptr<MetadataShadow> New = Target.makeShadow(Options, Error);
  if (New) {
    std::vector<MemoryRange> Ranges;
    {
      std::lock_guard Lock(Data);
      Ranges = Memory.of(Target.Handle);
    }
    New->add(Ranges);
    while (New->isRetiring()) // No kernel has seen any of it yet.
      New->settle();
  } else {
    theLog().say("{}; on device {} metadata mode is off", Error, Target.Device);
  }
  std::lock_guard Lock(Data);
  Target.TheShadow = std::move(New);
  Target.CanShadow = Target.TheShadow != nullptr;
  return Target.CanShadow;
}

static CUresult getManaged(const LoadedCode &Code, const char *Name,
                           CUdeviceptr &Address, size_t &Size) {
  Driver &D = theDriver();
  if (!Code.Library || !D.cuLibraryGetManaged)
    return getGlobal(Code, Name, Address, Size);
  return D.cuLibraryGetManaged(&Address, &Size, Code.Library, Name);
}

/// Where a block of variables is.
std::optional<uint64_t> Modules::locate(const LoadedCode &Code,
                                        const VariableBlock &Block) {
  // One symbol is enough, but the driver may not find each of them.
  constexpr size_t Enough = 8;
  for (size_t I = 0; I < std::min(Enough, Block.Symbols.size()); ++I) {
    const auto &[Name, Offset] = Block.Symbols[I];
    CUdeviceptr Address = 0;
    size_t Size = 0;
    if ((Block.IsManaged ? getManaged : getGlobal)(Code, Name.c_str(), Address,
                                                   Size) == CUDA_SUCCESS)
      return Address - Offset;
  }
  return std::nullopt;
}

/// Finds the addresses of the code's variables, which reports name. Blocks of a
/// cubin tell where static variables are, too; other variables are found by
/// name.
void Modules::nameVariables(Context &Target, const LoadedCode &Code,
                            const DeviceImage &Image) {
  std::unordered_multimap<std::string, uint64_t> Known;
  for (const VariableBlock &Block : Image.Variables)
    if (std::optional<uint64_t> Base = locate(Code, Block))
      for (const auto &[Name, Offset] : Block.Symbols)
        Known.emplace(Name, *Base + Offset);
  std::vector<VariableInMemory> Found;
  for (const DeviceUnit &Unit : Image.Units)
    for (const VariableInfo &V : Unit.Info.Variables) {
      if (V.Space != abi::Space::Global || V.Size == 0)
        continue;
      auto [Begin, End] = Known.equal_range(V.LinkageName);
      for (auto It = Begin; It != End; ++It)
        Found.push_back({It->second, V});
      CUdeviceptr Address = 0;
      size_t Size = 0;
      const auto Has = [&](auto Get) {
        return Get(Code, V.LinkageName.c_str(), Address, Size) ==
                   CUDA_SUCCESS &&
               Size == V.Size;
      };
      if (Begin == End && (Has(getGlobal) || Has(getManaged)))
        Found.push_back({Address, V});
    }
  std::lock_guard Lock(Data);
  std::move(Found.begin(), Found.end(), std::back_inserter(Target.Named));
}

void Modules::shadowVariables(Context &Target, const LoadedCode &Code,
                              const DeviceImage &Image) {
  for (const VariableBlock &Block : Image.Variables) {
    const std::optional<uint64_t> Base = locate(Code, Block);
    if (!Base)
      continue;
    MemoryRange Range{Block.IsManaged ? nullptr : Target.Handle, *Base,
                      Block.Size, /*HasVariables=*/true};
    theLog().detail(2, "code {}: variables at {:#x}, {} bytes", Code.Serial,
                    Range.Base, Range.Size);
    Target.TheShadow->add({&Range, 1});
    std::lock_guard Lock(Data);
    Target.Variables.emplace_back(Code.Serial, Range);
  }
}

bool Modules::isSwitchedOff(const std::string &Kernel) const {
  return std::any_of(Images.begin(), Images.end(), [&](const auto &E) {
    if (E->IsOn)
      return false;
    // A table that cannot be read does not tell its kernels.
    return !E->Image.Problem.empty() ||
           std::any_of(E->Image.Units.begin(), E->Image.Units.end(),
                       [&](const DeviceUnit &Unit) {
                         const auto &Names = Unit.Info.Kernels;
                         return std::find(Names.begin(), Names.end(), Kernel) !=
                                Names.end();
                       });
  });
}

std::vector<std::pair<LoadedCode, std::vector<std::string>>>
Modules::kernelsOfCollider() const {
  std::vector<std::pair<LoadedCode, std::vector<std::string>>> All;
  for (const std::shared_ptr<Entry> &E : Images)
    for (const LoadedCode &Code : Codes)
      if (E->Codes.contains(Code.Serial) && !E->Image.hasMetadata())
        for (const DeviceUnit &Unit : E->Image.Units)
          All.emplace_back(Code, Unit.Info.Kernels);
  return All;
}

bool Modules::isShuffled(const std::string &Kernel) const {
  return std::any_of(Images.begin(), Images.end(), [&](const auto &E) {
    if (!E->IsOn || !E->Image.MayShuffle || !Options.shuffle)
      return false;
    return std::any_of(E->Image.Units.begin(), E->Image.Units.end(),
                       [&](const DeviceUnit &Unit) {
                         const auto &Names = Unit.Info.Kernels;
                         return std::find(Names.begin(), Names.end(), Kernel) !=
                                Names.end();
                       });
  });
}

/// Whether the code has checks of the modes that the user wants code without
/// checks to get.
static bool suits(const DeviceImage &Image, const Flags &Options) {
  return !Options.addsChecks() ||
         (Image.has(abi::HasCollider) == (Options.detector != "metadata") &&
          Image.has(abi::HasMetadata) == (Options.detector != "collider"));
}

void Modules::summarise(RunSummary &Summary) const {
  size_t Others = 0;
  for (const std::shared_ptr<Entry> &E : Images) {
    if (!E->IsOn)
      continue;
    Others += !suits(E->Image, Options);
    for (const DeviceUnit &Unit : E->Image.Units) {
      Summary.Sites += Unit.Info.NumSites;
      Summary.Windows += windowsOf(Unit);
      Summary.SkippedAccesses += Unit.Info.Skipped;
      Summary.ExemptAccesses += Unit.Info.Exempt;
      ++Summary.Modules;
    }
  }
  Summary.Shuffled = Shuffled;
  if (Others)
    Summary.Notes.push_back(fmt::format(
        "detector={}: {} the checks of another mode that the source was built "
        "with; build it with -fsanitize-cuda-race-mode={}",
        Options.detector, counted(Others, "image keeps", "images keep"),
        Options.detector));
  size_t Lost = LostCodes;
  for (const LoadedCode &Code : Codes)
    Lost += Code.LacksTables;
  if (Lost)
    Summary.Notes.push_back(fmt::format(
        "{} instrumented module(s) are not checked: CUPTI did not show their "
        "image; run with CRSAN_OPTIONS=verbosity=2 and report this",
        Lost));
}

} // namespace crsan

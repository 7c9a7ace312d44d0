// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device code that the program has loaded.
//
// Two kinds of events meet here, in any order: CUPTI shows images
// (MODULE_LOADED, a cubin without a handle), and the driver's load functions
// return handles (a CUlibrary or CUmodule without bytes). An image belongs to a
// handle if the handle resolves the names of the image's units.
#ifndef CRSAN_INJECT_SESSION_MODULES_H
#define CRSAN_INJECT_SESSION_MODULES_H

#include "common/Flags.h"
#include "image/DeviceImage.h"
#include "session/Context.h"

#include <cuda.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace crsan {

/// Handle of loaded code: one of Library and Module is set.
struct LoadedCode {
  uint64_t Serial = 0; ///< Handles are reused, serials are not.
  CUlibrary Library = nullptr;
  CUmodule Module = nullptr;
  CUcontext Owner = nullptr; ///< Of a Module; a Library is in every context.
  bool LacksTables = false;  ///< Instrumented, but no image matched so far.
};

/// Functions marked "driver" call the driver and take the data lock themselves,
/// briefly; the others are called with it held.
class Modules {
public:
  Modules(std::timed_mutex &Data, const Flags &Options,
          const Allocations &Memory)
      : Data(Data), Options(Options), Memory(Memory) {}

  /// Returns true for an image that is instrumented.
  bool addImage(std::span<const uint8_t> Cubin);
  bool addImage(std::span<const ImageObject> Objects);
  /// Returns the code's serial.
  uint64_t addCode(LoadedCode Code);
  /// The serial, or 0.
  uint64_t find(CUlibrary Library, CUmodule Module) const;
  /// Whether the code is instrumented, but its image is not known.
  bool lacksTables(uint64_t Serial) const;
  void removeCode(uint64_t Serial);

  /// Grows whenever there is something new to configure.
  uint64_t generation() const { return Generation; }
  bool sawInstrumented() const { return !Images.empty(); }

  /// (driver) Switches on all code that Target does not have yet. Target is
  /// current; the caller holds the configuration lock.
  void configure(Context &Target);
  /// (driver) Makes what checks write to in the context, the same way. Returns
  /// whether its kernels can be checked.
  bool makeReady(Context &Target);

  bool isInstrumented(const std::string &Kernel) const {
    return Kernels.contains(Kernel);
  }
  /// Whether the kernel, which is not checked, is instrumented all the same, or
  /// may be: its image is not switched on, for a reason that was said.
  bool isSwitchedOff(const std::string &Kernel) const;
  /// Whether any kernel is, or was, of an image with metadata mode. Needs no
  /// lock.
  bool hasShadowed() const { return HasShadowed; }
  /// Whether it is of such an image.
  bool isShadowed(const std::string &Kernel) const {
    return ShadowedKernels.contains(Kernel);
  }
  /// Whether the kernel may wait for something that others do while it runs.
  bool mayWait(const std::string &Kernel) const {
    return !Kernels.contains(Kernel) || WaitingKernels.contains(Kernel);
  }
  /// The kernels with the collider's checks alone, of code that is on.
  std::vector<std::pair<LoadedCode, std::vector<std::string>>>
  kernelsOfCollider() const;
  /// Whether code with the collider is on.
  bool hasCollider() const { return HasCollider; }
  /// Whether block indices are permuted while the kernel runs.
  bool isShuffled(const std::string &Kernel) const;
  const SiteTable &sites() const { return Sites; }
  /// Totals of the images that were switched on.
  void summarise(RunSummary &Summary) const;

private:
  struct Entry {
    DeviceImage Image;
    bool IsOn = false;
    std::set<uint64_t> Codes; ///< LoadedCode::Serial where it is on.
  };
  /// Where an image's objects are in a context.
  struct Addresses {
    CUdeviceptr Config = 0;
    std::vector<SiteArray> Arrays;
    std::vector<UnitCoverage> Covered;
    std::vector<SharedUseArray> SharedUses;
  };

  bool addImage(std::unique_ptr<DeviceImage> Image);
  void configureCode(Context &Target, const LoadedCode &Code);
  void switchOn(Context &Target, const LoadedCode &Code, Entry &E,
                Addresses Found);
  std::shared_ptr<Entry> match(const LoadedCode &Code, Addresses &Found);
  bool resolve(const LoadedCode &Code, const DeviceImage &Image,
               Addresses &Found);
  bool makeShadow(Context &Target);
  std::optional<uint64_t> locate(const LoadedCode &Code,
                                 const VariableBlock &Block);
  void nameVariables(Context &Target, const LoadedCode &Code,
                     const DeviceImage &Image);
  void shadowVariables(Context &Target, const LoadedCode &Code,
                       const DeviceImage &Image);
  void markDone(Context &Target, const LoadedCode &Code);

  std::timed_mutex &Data;
  const Flags &Options;
  const Allocations &Memory;
  SiteTable Sites;
  std::vector<std::shared_ptr<Entry>> Images; ///< Seen last comes last.
  std::vector<LoadedCode> Codes;
  std::unordered_set<std::string> Kernels;         ///< Of images that are on.
  std::unordered_set<std::string> ShadowedKernels; ///< Some of these.
  std::atomic<bool> HasShadowed{false};
  std::unordered_set<std::string> WaitingKernels; ///< Others of these.
  uint64_t Generation = 0;
  uint64_t NextSerial = 1;
  size_t LostCodes = 0; ///< Unloaded while they still lacked their tables.
  bool Shuffled = false;
  bool HasCollider = false;
};

} // namespace crsan

#endif // CRSAN_INJECT_SESSION_MODULES_H

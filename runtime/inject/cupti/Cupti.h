// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The callbacks of CUPTI.
#ifndef CRSAN_INJECT_CUPTI_CUPTI_H
#define CRSAN_INJECT_CUPTI_CUPTI_H

#include <cupti.h>

#include <string>

namespace crsan {

/// CUPTI, loaded at run time: a program must run, unchecked, where it is
/// missing.
struct Cupti {
  decltype(&::cuptiSubscribe) Subscribe = nullptr;
  decltype(&::cuptiEnableCallback) EnableCallback = nullptr;
  decltype(&::cuptiGetResultString) GetResultString = nullptr;
  decltype(&::cuptiGetVersion) GetVersion = nullptr;
  decltype(&::cuptiGetCallbackName) GetCallbackName = nullptr;
  decltype(&::cuptiActivitySetAttribute) SetAttribute = nullptr;
  std::string Path; ///< What was loaded.

  /// Looks in the loader's search path, the toolkit ($CUDA_PATH, $CUDA_HOME),
  /// beside this library, and the usual places. False: there is none.
  bool load();

  std::string resultText(CUptiResult Result) const;

private:
  void saveMemory() const;
};

} // namespace crsan

#endif // CRSAN_INJECT_CUPTI_CUPTI_H

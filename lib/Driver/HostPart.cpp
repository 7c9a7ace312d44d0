// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the linker is told of CRSan's host part.
#include "HostPart.h"

using namespace crsan::driver;

std::vector<std::string> crsan::driver::wrapperOptions() {
  std::vector<std::string> Out = {"--undefined=__crsan_wraps"};
  for (const char *Function :
       {"cudaLaunchKernel", "cudaLaunchKernel_ptsz",
        "cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernel_ptsz",
        "cudaLaunchKernelExC", "cudaLaunchKernelExC_ptsz", "__cudaLaunchKernel",
        "__cudaLaunchKernel_ptsz", "__cudaRegisterFunction",
        "__cudaRegisterVar", "__cudaRegisterManagedVar", "cudaMalloc",
        "cudaMallocHost", "cudaMallocManaged", "cudaHostAlloc",
        "cudaMallocAsync", "cudaMallocAsync_ptsz"})
    Out.push_back(std::string("--wrap=") + Function);
  return Out;
}

std::vector<std::string> crsan::driver::exportOptions(bool HaltOnError) {
  std::vector<std::string> Out = {
      "--export-dynamic-symbol=__crsan_default_options"};
  if (HaltOnError) {
    Out.push_back("--defsym=__crsan_halt_on_error=1");
    Out.push_back("--export-dynamic-symbol=__crsan_halt_on_error");
  }
  return Out;
}

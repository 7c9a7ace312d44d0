# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# LLVM 22 and nothing else: a pass plugin works with exactly the LLVM that it was
# built for. Sets LLVM_INCLUDE_DIRS, LLVM_TOOLS_BINARY_DIR and the usual rest.

find_package(LLVM 22.1 CONFIG QUIET HINTS /usr/lib/llvm-22)
if(NOT LLVM_FOUND)
  message(FATAL_ERROR "CRSan: LLVM 22 was not found; install llvm-22-dev, "
    "llvm-22-tools, libclang-22-dev, clang-22 and clang-tools-22, or set LLVM_DIR.")
endif()
list(APPEND CMAKE_MODULE_PATH ${LLVM_DIR})
include(AddLLVM)

separate_arguments(LLVM_DEFINITIONS_LIST NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${LLVM_DEFINITIONS_LIST})
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS})

if(NOT LLVM_ENABLE_RTTI)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
endif()

find_program(CRSAN_CLANGXX clang++ HINTS ${LLVM_TOOLS_BINARY_DIR}
  NO_DEFAULT_PATH REQUIRED DOC "clang++ 22, which compiles the device runtime")
find_library(CRSAN_CLANG_OPTIONS_LIBRARY clangOptions HINTS ${LLVM_LIBRARY_DIRS}
  NO_DEFAULT_PATH DOC "clang 22's table of options, which the wrapper asks")
if(NOT CRSAN_CLANG_OPTIONS_LIBRARY)
  message(FATAL_ERROR "CRSan: clang 22's libraries were not found; install "
    "libclang-22-dev.")
endif()

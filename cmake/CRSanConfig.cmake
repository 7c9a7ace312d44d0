# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# find_package(CRSan): the tools, as the imported executables CRSan::crsan,
# CRSan::crsan-clang, CRSan::crsan-clang++ and CRSan::crsan-nvcc, and three functions.
#
#   crsan_enable(TARGET [MODE collider|metadata|hybrid] [HOST])
#
# has the CUDA sources of TARGET checked; HOST: their host code, too.
# CMAKE_CUDA_COMPILER has to be crsan-clang++.
#
#   crsan_only_enabled()
#
# has no other target of this folder and those below checked. CMake takes clang for
# a CUDA compiler (of CUDA 13) only with -DCMAKE_CUDA_FLAGS=-fsanitize=cuda-race,
# which would have all targets checked.
#
#   crsan_enable_tests([DEVICE sim|gpu] [OPTIONS option...])
#
# has the tests of programs that are added after it, in this folder and those
# below, run by `crsan run`, with these options.

# Of the file itself: a Debian package has a link to it.
get_filename_component(CRSanRoot "${CMAKE_CURRENT_LIST_FILE}" REALPATH)
get_filename_component(CRSanRoot "${CRSanRoot}/../../../.." ABSOLUTE)

foreach(CRSanTool crsan crsan-clang crsan-clang++ crsan-nvcc)
  if(NOT TARGET CRSan::${CRSanTool})
    add_executable(CRSan::${CRSanTool} IMPORTED)
    set_target_properties(CRSan::${CRSanTool} PROPERTIES
      IMPORTED_LOCATION "${CRSanRoot}/bin/${CRSanTool}")
  endif()
endforeach()
unset(CRSanTool)
set(CRSan_INCLUDE_DIR "${CRSanRoot}/include")
set(CRSan_COMPILER "${CRSanRoot}/bin/crsan-clang++")
set(CRSan_EXECUTABLE "${CRSanRoot}/bin/crsan")
unset(CRSanRoot)

function(crsan_enable Target)
  cmake_parse_arguments(PARSE_ARGV 1 Arg "HOST" "MODE" "")
  get_filename_component(Compiler "${CMAKE_CUDA_COMPILER}" NAME)
  if(NOT Compiler STREQUAL "crsan-clang++")
    message(FATAL_ERROR "crsan_enable(${Target}): the CUDA compiler is "
      "'${CMAKE_CUDA_COMPILER}'; configure an empty build folder with "
      "-DCMAKE_CUDA_COMPILER=${CRSan_COMPILER}")
  endif()
  set(Flags -fsanitize=cuda-race)
  if(Arg_MODE)
    list(APPEND Flags -fsanitize-cuda-race-mode=${Arg_MODE})
  endif()
  if(Arg_HOST)
    list(APPEND Flags -fsanitize-cuda-race-host)
  endif()
  target_compile_options(${Target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:${Flags}>")
  get_target_property(Type ${Target} TYPE)
  if(Type MATCHES "STATIC_LIBRARY|OBJECT_LIBRARY")
    # Linked with what uses it.
    target_link_options(${Target} INTERFACE -fsanitize=cuda-race)
  else()
    target_link_options(${Target} PRIVATE -fsanitize=cuda-race)
    # The C++ compiler, which CMake prefers, may not know the option.
    set_target_properties(${Target} PROPERTIES LINKER_LANGUAGE CUDA)
  endif()
endfunction()

macro(crsan_only_enabled)
  string(REPLACE "-fsanitize=cuda-race" "" CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS}")
endmacro()

function(crsan_enable_tests)
  cmake_parse_arguments(PARSE_ARGV 0 Arg "" "DEVICE" "OPTIONS")
  if(NOT Arg_DEVICE)
    set(Arg_DEVICE sim)
  endif()
  set(Launcher "${CRSan_EXECUTABLE}" run --device=${Arg_DEVICE} ${Arg_OPTIONS})
  if(CMAKE_VERSION VERSION_LESS 3.29)
    # Of that name, but used for every test of a program that is built.
    set(CMAKE_CROSSCOMPILING_EMULATOR "${Launcher}" PARENT_SCOPE)
  else()
    set(CMAKE_TEST_LAUNCHER "${Launcher}" PARENT_SCOPE)
  endif()
endfunction()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What every target of the project shares.

add_compile_options(-Wall -Wextra -Wno-unused-parameter
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
include_directories(${PROJECT_SOURCE_DIR}/include)

# Most of a compilation's time goes to headers and templates, which many files have in
# common: so many files of a target are compiled as one. Names of static functions
# and of anonymous namespaces have to differ within a target.
set(CRSAN_FILES_TOGETHER 12 CACHE STRING
  "How many files are compiled together; 1: each by itself")

# crsan_compile_together(TARGET...)
function(crsan_compile_together)
  if(CRSAN_FILES_TOGETHER GREATER 1)
    set_target_properties(${ARGN} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${CRSAN_FILES_TOGETHER})
  endif()
endfunction()

# crsan_add_unittest(NAME LIBS lib... SOURCES file...)
# A GoogleTest program build/bin/NAME, whose tests ctest lists one by one.
function(crsan_add_unittest Name)
  cmake_parse_arguments(Arg "" "" "LIBS;SOURCES" ${ARGN})
  add_executable(${Name} ${Arg_SOURCES})
  target_link_libraries(${Name} PRIVATE ${Arg_LIBS} GTest::gtest GTest::gtest_main)
  crsan_compile_together(${Name})
  gtest_discover_tests(${Name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 120)
endfunction()

# crsan_add_optional(dir...): add those subdirectories that exist.
function(crsan_add_optional)
  foreach(Dir ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${Dir}/CMakeLists.txt)
      add_subdirectory(${Dir})
    endif()
  endforeach()
endfunction()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What every target of the project shares.

add_compile_options(-Wall -Wextra -Wno-unused-parameter
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
include_directories(${PROJECT_SOURCE_DIR}/include)

# crsan_add_unittest(NAME LIBS lib... SOURCES file...)
# A GoogleTest program build/bin/NAME, whose tests ctest lists one by one.
function(crsan_add_unittest Name)
  cmake_parse_arguments(Arg "" "" "LIBS;SOURCES" ${ARGN})
  add_executable(${Name} ${Arg_SOURCES})
  target_link_libraries(${Name} PRIVATE ${Arg_LIBS} GTest::gtest GTest::gtest_main)
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

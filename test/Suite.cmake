# Part of CudaRaceSanitizer, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

find_package(Python3 REQUIRED COMPONENTS Interpreter)

# A folder of GPU programs (see Device/README.md) on the simulated GPU: one test a
# program, which runs all its variants, and one that builds them. More arguments go
# to the bundle's `run`. With RACE_FREE, racy variants are left out.
function(crsan_add_suite Suite Detector)
  cmake_parse_arguments(PARSE_ARGV 2 Suite "RACE_FREE" "" "")
  set(Chosen)
  if(Suite_RACE_FREE)
    set(Chosen --race-free)
  endif()
  string(TOLOWER ${Suite} Label)
  # But for the collider, built for metadata mode: the oracle watches the machine,
  # and which mode a program was built for is nothing to it.
  set(Mode metadata)
  set(Build ${Label}-bundle)
  if(Detector STREQUAL "collider")
    set(Mode collider)
    set(Build ${Label}-collider-bundle)
  endif()
  set(Bundle ${CMAKE_BINARY_DIR}/${Build})
  if(NOT TEST ${Build})
    add_test(NAME ${Build}
      COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/scripts/gpu-bundle ${Bundle}
              --suite ${Suite} --mode ${Mode} ${Chosen} --simulated
              --build ${CMAKE_BINARY_DIR} --cuda-path ${CRSAN_CUDA_PATH})
    # It uses all processors itself.
    set_tests_properties(${Build} PROPERTIES
      FIXTURES_SETUP ${Build} TIMEOUT 1800 RUN_SERIAL ON LABELS ${Label})
  endif()
  file(GLOB Sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cu)
  foreach(Source ${Sources})
    file(STRINGS ${Source} GpuOnly REGEX "^// GPU-ONLY$")
    if(GpuOnly)
      continue()
    endif()
    string(REGEX REPLACE "[.]cu$" "" Program ${Source})
    set(Test ${Label}-${Detector}-${Program})
    add_test(NAME ${Test}
      COMMAND ${Python3_EXECUTABLE} ${Bundle}/run --simulate $<TARGET_FILE:crsan>
              --detector ${Detector} --program ${Program} --jobs 1 --timeout 120
              --show-failures --out ${CMAKE_CURRENT_BINARY_DIR}/${Test}
              ${Suite_UNPARSED_ARGUMENTS})
    set_tests_properties(${Test} PROPERTIES
      FIXTURES_REQUIRED ${Build} TIMEOUT 1200 LABELS ${Label})
  endforeach()
endfunction()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What other build systems ask of an installed CRSan, and packages of it.

include(CMakePackageConfigHelpers)
set(CMakeDir ${CRSAN_INSTALL_LIBDIR}/cmake/CRSan)
write_basic_package_version_file(generated/CRSanConfigVersion.cmake
  COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
configure_file(cmake/crsan.pc.in generated/crsan.pc @ONLY)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/CRSanConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/CRSanConfigVersion.cmake
  DESTINATION ${CMakeDir})
install(FILES ${PROJECT_BINARY_DIR}/generated/crsan.pc
  DESTINATION ${CRSAN_INSTALL_LIBDIR}/pkgconfig)

# cpack -G DEB, and cpack -G TGZ, whose tree runs from any folder.
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME crsan)
set(CPACK_PACKAGE_VENDOR "the CudaRaceSanitizer developers")
set(CPACK_PACKAGE_CONTACT "the CudaRaceSanitizer developers <crsan@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "data race detector for CUDA programs")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# The libraries that are linked, and the programs that are run: clang, its linker
# for device code, lld. NVIDIA's packages have the version in their names, and the
# toolkit may have come without a package; crsan doctor says what is missing.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS
  "clang-22 (>= 1:22.1), clang-tools-22, lld-22, g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cuda-toolkit-13-0")
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/PackageLayout.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/DebianLinks.cmake)
include(CPack)

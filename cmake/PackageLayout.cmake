# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# CPack reads this once for each kind of package. In a Debian package all files
# stay together in one folder, since the tools find the rest beside themselves.

if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr/lib/crsan)
endif()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Links from where Debian looks for programs, pages, completion and packages to
# the folder of the package. CPack runs this before it packs.

if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

set(Root ${CPACK_TEMPORARY_DIRECTORY})
set(Own /usr/lib/crsan)
foreach(Pair
    "bin=>bin"
    "include=>include"
    "share/man/man1=>share/man/man1"
    "share/bash-completion/completions=>share/bash-completion/completions"
    "share/zsh/site-functions=>share/zsh/vendor-completions"
    "lib/pkgconfig=>lib/pkgconfig"
    "lib/cmake/CRSan=>lib/cmake/CRSan")
  string(REPLACE "=>" ";" Pair "${Pair}")
  list(GET Pair 0 From)
  list(GET Pair 1 To)
  file(GLOB Files ${Root}${Own}/${From}/*)
  foreach(File IN LISTS Files)
    get_filename_component(Name ${File} NAME)
    file(RELATIVE_PATH Target ${Root}/usr/${To} ${File})
    file(MAKE_DIRECTORY ${Root}/usr/${To})
    file(CREATE_LINK ${Target} ${Root}/usr/${To}/${Name} SYMBOLIC)
  endforeach()
endforeach()

# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Sourced by scripts/test and scripts/quickstart.

# Packages by Debian's names. The build and its tests need no others.
PACKAGES="cmake ninja-build make g++ python3 git dpkg-dev pkg-config
  clang-22 clang-tools-22 libclang-22-dev libclang-rt-22-dev llvm-22-dev llvm-22-tools lld-22
  libfmt-dev libgtest-dev libgmock-dev nlohmann-json3-dev libcli11-dev libzstd-dev liblz4-dev zlib1g-dev
  python3-jsonschema mkdocs"

die() {
  echo "CRSan: $*" >&2
  exit 1
}

install_missing() {
  command -v dpkg-query >/dev/null ||
    die "this is not Debian; install the equivalents of: $(echo $PACKAGES)"
  missing=
  for package in $PACKAGES; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null |
      grep -q 'ok installed' || missing="$missing $package"
  done
  [ -n "$missing" ] || return 0
  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    die "these packages are missing; install them as root:$missing"
  fi
  echo "installing:$missing"
  as_root apt-get update -qq && install_packages $missing ||
    die "apt-get could not install:$missing"
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}
install_packages() {
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq \
    --no-install-recommends "$@" >/dev/null
}

# HTML reports are tested in it. Without a browser those tests are not run, and
# say so.
install_browser() {
  command -v chromium >/dev/null || install_packages chromium 2>/dev/null ||
    echo "chromium could not be installed"
}

# Sets CUDA to the toolkit's folder; the places and their order are those of
# crsan-clang.
find_cuda() {
  for CUDA in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda \
    $(ls -dv /usr/local/cuda-* 2>/dev/null | tac) /opt/cuda /usr/lib/cuda; do
    [ -n "$CUDA" ] && [ -f "$CUDA/include/cuda_runtime.h" ] && return 0
  done
  die "no CUDA toolkit was found; install CUDA 13 (developer.nvidia.com/cuda-downloads) or set CUDA_PATH to where it is"
}

# Sets SARIF_SCHEMA to the published schema, which an npm package brings, if there
# is npm. Without it, the test that needs the schema is not run, and says so.
find_sarif_schema() {
  folder=build/sarif-schema
  SARIF_SCHEMA=$PWD/$folder/package/lib/schemas/sarif-2.1.0-rtm.5.json
  if [ ! -f "$SARIF_SCHEMA" ] && command -v npm >/dev/null; then
    mkdir -p "$folder" &&
      (cd "$folder" && npm pack --silent @microsoft/jest-sarif@1.0.0-beta.0 &&
        tar xzf microsoft-jest-sarif-*.tgz) >/dev/null 2>&1
  fi
  [ -f "$SARIF_SCHEMA" ] || SARIF_SCHEMA=
  export SARIF_SCHEMA
}

configure_and_build() {
  cmake --preset default --log-level=WARNING >/dev/null ||
    die "configuration failed"
  cmake --build --preset default ${JOBS:+-j "$JOBS"} || die "the build failed"
}

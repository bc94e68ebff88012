#!/usr/bin/env bash
# Installs the system packages named as arguments (default: what the tests need) where it may: as root with apt.
# Elsewhere it says what to install and exits 1.
set -euo pipefail

packages=("$@")
if [ ${#packages[@]} -eq 0 ]; then
  packages=(git python3 python3-pytest)
  # The fence, what is tried inside it, and what makes it; a file system to lose power on; compilers and installers.
  [ "$(uname)" != Linux ] || packages+=(
    perl procps util-linux build-essential bubblewrap socat openssl openssh-client chromium
    curl wget iproute2 psmisc
    e2fsprogs python3-pip golang-go cargo
  )
fi

# A package is judged by its program, so that one installed in another way counts.
present() {
  case "$1" in
    bubblewrap) command -v bwrap ;;
    build-essential) command -v make && command -v cc && [ -e /usr/include/stdio.h ] ;;
    # A version manager's stand-in may have no version.
    cargo) cargo --version && rustc --version ;;
    e2fsprogs) command -v mkfs.ext4 || [ -x /sbin/mkfs.ext4 ] ;;
    golang-go) go version ;;
    iproute2) command -v ip || [ -x /sbin/ip ] ;;
    openssh-client) command -v ssh-keygen ;;
    procps) command -v ps ;;
    psmisc) command -v killall ;;
    python3-pip) python3 -m pip --version || /usr/bin/python3 -m pip --version ;;
    python3-pytest) command -v pytest || command -v pytest-3 || python3 -m pytest --version ;;
    util-linux) command -v nsenter && command -v prlimit ;;
    chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
    postgresql) command -v postgres || compgen -G '/usr/lib/postgresql/*/bin/postgres' ;;
    *) command -v "$1" ;;
  esac >/dev/null 2>&1
}

missing=()
find_missing() {
  missing=()
  local name
  for name in "${packages[@]}"; do
    present "$name" || missing+=("$name")
  done
}

find_missing
[ ${#missing[@]} -gt 0 ] || exit 0

if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null 2>&1; then
  echo "installing: ${missing[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  { apt-get update -qq && apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >&2 || true
  find_missing
  [ ${#missing[@]} -gt 0 ] || exit 0
fi

echo "missing system packages: ${missing[*]}" >&2
echo "install them, e.g.: sudo apt-get install ${missing[*]}   (macOS: brew install ${missing[*]})" >&2
exit 1

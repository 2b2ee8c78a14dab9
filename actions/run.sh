#!/bin/bash -p
# Gets the binary of one role and runs it, for the role's composite action, which
# reads this file into its shell:  . run.sh ROLE [ARGUMENT ...]
#
# Where the binary comes from, the first that applies:
#
#   1  INPUT_BIN, the action's input "bin": a folder of binaries built before
#   2  checksums.txt beside this file, which only a release has. It pins the SHA-256
#      of every binary; the bytes come from the runner's tool cache, else from the
#      release of the repository that the action comes from, and are hashed in a
#      folder of this step alone, every time. What they came by proves nothing.
#   3  no checksums.txt: built from the source that this file stands in, where
#      INPUT_ALLOW_SOURCE_BUILD is true: a constant of the actions that hold no
#      token, an input of those that do
#   4  else an error
#
# No step goes on to the next one when it fails. Inputs reach the binary as INPUT_*
# variables and are checked there; nothing of them is interpreted here.
#
# What an earlier step of the job may have left is not used: the action starts this
# shell by path with -p, so that neither BASH_ENV nor exported functions count, and
# programs are those of the system. Written for bash 3.2, which macOS has.
set -euo pipefail

role=$1
shift
private= sum= digest= suffix=
most=268435456 # bytes of a binary
callers=${PATH:-}
PATH=/usr/bin:/bin
# No program but the binary gets an input: some are secrets.
inputs=${!INPUT_@}
# shellcheck disable=SC2086 # names of variables
[ -z "$inputs" ] || export -n $inputs
unset BASH_ENV ENV LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH GCONV_PATH LOCPATH DYLD_INSERT_LIBRARIES DYLD_LIBRARY_PATH

fail() {
  printf '::error title=%s::%s\n' "$role" "$1"
  exit "${2:-1}"
}

# forward spells a path of a Windows runner as bash can use it.
forward() {
  if [ "$os" = windows ]; then path=${1//\\//}; else path=$1; fi
}

case ${RUNNER_OS:-} in
  Linux) os=linux ;;
  macOS) os=darwin ;;
  Windows) os=windows suffix=.exe ;;
  *) os=unknown ;;
esac
case ${RUNNER_ARCH:-} in
  X64) arch=amd64 ;;
  ARM64) arch=arm64 ;;
  *) arch=unknown ;;
esac
case ${INPUT_ALLOW_SOURCE_BUILD:-false} in
  true | false) ;;
  *) fail "allow-source-build is neither true nor false" 2 ;;
esac
forward "$GITHUB_ACTION_PATH"
here=$path/..

# folder makes the folder of this step, which no other user can look into.
folder() {
  forward "${RUNNER_TEMP:-}"
  [ -d "$path" ] || fail "RUNNER_TEMP names no folder: a runner sets it for every step"
  private=$(mktemp -d "$path/ledger-$role.XXXXXX") || fail "RUNNER_TEMP cannot be written: give the runner room and rights there"
  binary=$private/$role$suffix
}

# runnable makes sure that the binary can be run from where it is.
runnable() {
  [ -x "$binary" ] || chmod 700 "$binary"
  [ -x "$binary" ] || fail "RUNNER_TEMP is mounted noexec, and $role cannot be run from it: give a folder of binaries as bin"
}

# keep lets programs have only the variables named; for a subshell.
keep() {
  local those_kept=" $* "
  # shellcheck disable=SC2046 # names of variables
  set -- $(compgen -e)
  while [ $# -gt 0 ]; do
    case $those_kept in
      *" $1 "*) ;;
      *) export -n "${1?}" ;;
    esac
    shift
  done
}
network="http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY no_proxy NO_PROXY SSL_CERT_FILE SSL_CERT_DIR CURL_CA_BUNDLE SYSTEMROOT WINDIR"

# pinned reports whether the binary is the one that checksums.txt pins. The
# fastest program that the system has does the hashing, in an empty environment.
pinned() {
  local hasher
  for hasher in /usr/bin/openssl /usr/bin/sha256sum /bin/sha256sum /sbin/sha256sum /usr/bin/shasum; do
    [ -x "$hasher" ] || continue
    case $hasher in
      */openssl) digest=$(exec -c "$hasher" dgst -sha256 -r 2>/dev/null <"$binary") || continue ;;
      */shasum) digest=$(exec -c "$hasher" -a 256 2>/dev/null <"$binary") || continue ;;
      *) digest=$(exec -c "$hasher" 2>/dev/null <"$binary") || continue ;;
    esac
    digest=${digest%%[ *]*}
    if [ ${#digest} = 64 ]; then
      [ "$digest" = "$sum" ]
      return
    fi
  done
  fail "there is no program to hash $role with, and nothing runs unverified: install openssl, sha256sum or shasum in /usr/bin"
}

# release takes the binary that checksums.txt pins.
release() {
  local LC_ALL=C line version= name=$role-$os-$arch$suffix cached=
  [ -f "$here/checksums.txt" ] && [ -r "$here/checksums.txt" ] || fail "checksums.txt cannot be read: check out the action anew"
  while IFS= read -r line; do
    line=${line%$'\r'}
    case $line in
      '# release '*) version=${line#'# release '} ;;
      *"  $name") sum=$sum${line%"  $name"} ;;
    esac
  done <"$here/checksums.txt"
  case $version in
    *[!A-Za-z0-9.-]* | '') fail "checksums.txt names no release: check out the action anew" ;;
  esac
  [ -n "$sum" ] || fail "release $version has no $role for this runner (${RUNNER_OS:-no RUNNER_OS}, ${RUNNER_ARCH:-no RUNNER_ARCH}): give a folder of binaries as bin"
  [ ${#sum} = 64 ] && [ -z "${sum//[0-9a-f]/}" ] || fail "checksums.txt has no one digest for $name: check out the action anew"

  folder
  if [ -n "${RUNNER_TOOL_CACHE:-}" ]; then
    forward "$RUNNER_TOOL_CACHE"
    cached=$path/ledger/$sum/$role$suffix
    # No more of it than a binary can have: a file may be larger than the disk.
    if [ -f "$cached" ] && head -c "$most" <"$cached" >"$binary" 2>/dev/null; then
      if pinned; then
        runnable
        return
      fi
      printf '::warning title=%s::%s\n' "$role" "the tool cache holds something else in place of $name; it is not used"
    fi
  fi
  rm -f "$binary"
  download "$version" "$name"
  runnable
  if [ -n "$cached" ]; then
    store "$cached" 2>/dev/null || printf '::debug::the tool cache cannot be written\n'
  fi
}

# store puts the binary into the tool cache, whole or not at all. A folder in its
# place would take the file in, one more with every run.
store() {
  local temporary
  [ ! -d "$1" ] && mkdir -p "${1%/*}" && temporary=$(mktemp "${1%/*}/.new.XXXXXX") || return 1
  if cp "$binary" "$temporary" && chmod 755 "$temporary" && mv -f "$temporary" "$1"; then return; fi
  rm -f "$temporary"
  return 1
}

# download fetches the binary from the release, without a token. A server that is
# not github.com may have got the action from there; so may the binary.
download() {
  local curl server repository= tried= protocols code
  for curl in /usr/bin/curl /bin/curl /mingw64/bin/curl /clangarm64/bin/curl /c/Windows/System32/curl.exe; do
    if [ -x "$curl" ]; then break; fi
  done
  [ -x "$curl" ] || fail "there is no curl to fetch $2 of release $1 with: install it, or give a folder of binaries as bin"
  case $here in
    */_actions/?*/?*/*)
      # Where the runner keeps it says more than GITHUB_ACTION_REPOSITORY, which
      # runners leave empty within a composite action.
      path=${here#*/_actions/}
      repository=${path%%/*}
      path=${path#*/}
      repository=$repository/${path%%/*}
      ;;
    *) repository=${GITHUB_ACTION_REPOSITORY:-${GITHUB_REPOSITORY:-}} ;;
  esac
  case $repository in
    *[!A-Za-z0-9._/-]* | */*/* | /* | */ | *..*) repository= ;;
    */*) ;;
    *) repository= ;;
  esac
  [ -n "$repository" ] || fail "nothing says which repository the action comes from: give a folder of binaries as bin"
  for server in "${GITHUB_SERVER_URL:-https://github.com}" https://github.com; do
    if [ "$server" = "$tried" ]; then break; fi
    tried=$server
    case $server in
      *[!A-Za-z0-9.:/_-]*) fail "GITHUB_SERVER_URL is no address" ;;
      https://?*) protocols='=https' ;;
      http://?*) protocols='=http,https' ;;
      *) fail "GITHUB_SERVER_URL is no address" ;;
    esac
    code=0
    (
      # shellcheck disable=SC2086 # names, none with a space
      keep $network
      exec "$curl" -q --fail --silent --show-error --globoff --location --max-redirs 5 --proto "$protocols" --proto-redir "$protocols" \
        --connect-timeout 20 --max-time 600 --retry 3 --max-filesize "$most" --output "$binary" --url "$server/$repository/releases/download/$1/$2"
    ) || code=$?
    if [ "$code" = 0 ]; then
      if [ -f "$binary" ] && pinned; then return; fi
      rm -f "$binary"
      fail "$2 of release $1 of $repository is not the binary that this version of the action pins, and was not run: tell the maintainers"
    fi
  done
  fail "$2 of release $1 of $repository cannot be fetched: the lines above say why; check network and https_proxy, or give a folder of binaries as bin"
}

# build makes the binary from source with nothing of the user's or the job's but
# the Go, the proxies and downloaded modules, which go.sum verifies.
build() {
  local go modules proxy=${GOPROXY:-}
  [ "${INPUT_ALLOW_SOURCE_BUILD:-false}" = true ] ||
    fail "this version of the action has no release to take $role from, and where a token is nothing is built unasked: use a release, give a folder of binaries as bin, or set allow-source-build to true"
  go=$(PATH=$callers && type -P go) || go=
  case $go in
    /* | [A-Za-z]:*) ;;
    *) fail "there is no Go to build $role from source: use a release, run actions/setup-go before, or give a folder of binaries as bin" ;;
  esac
  folder
  if [ -z "$proxy" ]; then # what Go takes of itself
    proxy=$(exec -c /usr/bin/env GOENV=off "$go" env GOPROXY 2>/dev/null) || proxy=
  fi
  modules=${GOMODCACHE:-}
  if [ -z "$modules" ]; then
    modules=${GOPATH:-${HOME:-}/go}
    modules=${modules%%:*}/pkg/mod
  fi
  case $modules in
    *[!A-Za-z0-9._/-]*) ;;
    /*) if [ -d "$modules/cache/download" ]; then proxy=file://$modules/cache/download${proxy:+,$proxy}; fi ;;
  esac
  (
    # shellcheck disable=SC2086 # names, none with a space
    keep $network
    export PATH=/usr/bin:/bin HOME="$private/home" TMPDIR="$private" TMP="$private" TEMP="$private" \
      GOCACHE="$private/cache" GOMODCACHE="$private/modules" GOPATH="$private/go" GOPROXY="$proxy" \
      GOENV=off GOFLAGS='-mod=readonly -modcacherw' GOWORK=off GOTOOLCHAIN=local GOSUMDB=off GOVCS='*:off' GOTELEMETRY=off CGO_ENABLED=0
    exec "$go" build -C "$here/.." -trimpath -buildvcs=false -ldflags='-s -w' -o "$binary" "./cmd/$role"
  ) || fail "$role cannot be built from source: the lines above say why"
  rm -rf "$private/cache" "$private/modules" "$private/go" "$private/home"
  [ -f "$binary" ] || fail "$role cannot be built from source: the lines above say why"
  runnable
}

if [ -n "${INPUT_BIN:-}" ]; then
  forward "$INPUT_BIN"
  case $path in
    /* | [A-Za-z]:/*) ;;
    *) fail "bin is no absolute path: a folder below the workspace could be the agent's" ;;
  esac
  binary=$path/$role$suffix
  [ -f "$binary" ] && [ -x "$binary" ] || fail "bin has no executable file $role$suffix: build it there with go build, or leave bin out"
elif [ -e "$here/checksums.txt" ] || [ -L "$here/checksums.txt" ]; then
  release
else
  build
fi
PATH=$callers
# shellcheck disable=SC2086 # names of variables
[ -z "$inputs" ] || export $inputs
# Inputs reach a Windows program as they are: none is a path of bash's.
if [ "$os" = windows ]; then export MSYS2_ENV_CONV_EXCL=INPUT_; fi
exec "$binary" "$@"

#!/usr/bin/env bash
# Runs the binary of one role for its composite action:  run.sh ROLE [ARGUMENT ...]
#
# INPUT_BIN, which every action maps from its input "bin", names a folder of
# binaries that were built before. Without it the binary is built from the source
# that the action itself stands in, into a folder made for this step alone: what
# an earlier step of the job left behind is never run. Inputs reach the binary as
# INPUT_* variables and are checked there; nothing of them is interpreted here.
set -euo pipefail

role=$1
shift
suffix=
if [ "${RUNNER_OS:-}" = Windows ]; then suffix=.exe; fi
fail() {
  printf '::error title=%s::%s\n' "$role" "$1"
  exit 1
}

case "${INPUT_BIN:-}" in
  '')
    [ -d "${RUNNER_TEMP:-}" ] || fail "RUNNER_TEMP names no folder: a runner sets it for every step"
    go=$(command -v go) ||
      fail "there is no Go to build $role from source: run actions/setup-go before, or give a folder of binaries as bin"
    folder=$(mktemp -d "$RUNNER_TEMP/ledger-$role.XXXXXX")
    binary=$folder/$role$suffix
    # Neither settings of the user nor flags of the job change what is built.
    HOME=${HOME:-$RUNNER_TEMP} GOENV=off GOFLAGS= GOWORK=off CGO_ENABLED=0 \
      "$go" build -C "$GITHUB_ACTION_PATH/../.." -trimpath -buildvcs=false -o "$binary" "./cmd/$role" ||
      fail "$role cannot be built from source: the lines above say why"
    [ -x "$binary" ] || fail "$role was built but cannot be run from RUNNER_TEMP, which is mounted noexec: give a folder of binaries as bin"
    ;;
  /* | [A-Za-z]:[/\\]*)
    binary=$INPUT_BIN/$role$suffix
    [ -f "$binary" ] && [ -x "$binary" ] || fail "bin has no executable file $role$suffix: build it there with go build, or leave bin out"
    ;;
  *) fail "bin is no absolute path: a folder below the workspace could be the agent's" ;;
esac
exec "$binary" "$@"

#!/usr/bin/env bash
# Changes a ledger's branch under a plan:  race.sh REMOTE stale|conflict
# stale retires one segment of the ledger of that name; conflict exchanges the
# content of two.
set -euo pipefail
clone=$(mktemp -d)
git clone -q --branch "ledgers/$2" "$1" "$clone"
cd "$clone/ledger/shards"
shards=(*.jsonl)
case $2 in
  stale) git rm -q "${shards[1]}" ;;
  conflict)
    mv "${shards[1]}" swap
    mv "${shards[2]}" "${shards[1]}"
    mv swap "${shards[2]}"
    ;;
esac
git -c user.name=race -c user.email=race@example.org commit -q -a -m "race"
git push -q origin "HEAD:ledgers/$2"

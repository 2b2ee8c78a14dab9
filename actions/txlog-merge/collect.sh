#!/bin/bash -p
# Copies what the artifact shall hold into a folder of its own and names that
# folder, unless it is empty, as the output "path". ARTIFACT_PATHS is the output artifact-paths of the
# binary: the agent's folder, files beside it, and files to leave out, behind a !.
#
# An upload follows links, waits for pipes, and fails as a whole at a name that
# artifacts cannot have. None of that may be the agent's to use: links are copied
# as links, and then all that is no regular file with one link, and all with such a
# name, is removed from the copy. The agent's folder is not changed. What the
# programs below print could quote a name, so it is not shown.
set -euo pipefail
export LC_ALL=C # names are bytes
PATH=/usr/bin:/bin # programs of the system, not what the agent put before them

say() { printf '::%s title=txlog-merge::%s\n' "$1" "$2"; }

target=$(mktemp -d "$RUNNER_TEMP/ledger-artifact.XXXXXX")
folder=
left=
while IFS= read -r line; do
  case $line in
    '') ;;
    '!'*) rm -f -- "$target/${folder##*[/\\]}${line#"!$folder"}" 2>/dev/null ;;
    *)
      folder=${folder:-$line}
      if [ -e "$line" ] || [ -L "$line" ]; then
        cp -RP -- "$line" "$target/" 2>/dev/null || {
          say error "what the agent staged cannot be copied whole, and nothing is uploaded in part: a file or folder cannot be read, or there is no room"
          exit 1
        }
        chmod -R u+rwX "$target" 2>/dev/null # so that all of the copy can be seen and removed
        while IFS= read -r -d '' linked; do
          rm -f -- "$target/${line##*[/\\]}${linked#"$line"}" 2>/dev/null
          left+=x
        done < <(find "$line" -type f -links +1 -print0 2>/dev/null)
      fi
      ;;
  esac
done <<<"${ARTIFACT_PATHS:-}"

left+=$(find "$target" -mindepth 1 \( ! -type f ! -type d -o -name $'*[\r\n":<>|*?\\\\]*' \) -prune -exec rm -rf {} \; -exec printf x \; 2>/dev/null)
if [ -n "$left" ]; then
  say warning "${#left} staged entries are left out of the artifact: they are links, pipes or devices, or have a name that no artifact can hold"
fi
if [ -n "$(find "$target" -type f 2>/dev/null)" ]; then
  printf 'path=%s\n' "$target" >>"$GITHUB_OUTPUT"
else
  say warning "there is nothing to upload: no agent-ledger prepared the directory, or its files are gone"
fi

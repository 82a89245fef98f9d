# What the scripts share. Sourced, not run; sets `root`, the folder of the checkout.
# shellcheck shell=bash
set -euo pipefail

# shellcheck disable=SC2034  # used by the scripts that source this file
root=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")

# fail MESSAGE: one clear line, exit code 2.
fail() {
  echo "${0##*/}: error: $*" >&2
  exit 2
}

# step TEXT: a heading between the outputs of commands.
step() { printf '\n== %s\n' "$*"; }

cores() { nproc 2>/dev/null || echo 1; }

# milliseconds_since START: START is an earlier value of $EPOCHREALTIME. (Some locales write it with a comma.)
milliseconds_since() {
  local now=${EPOCHREALTIME//[.,]/} start=${1//[.,]/}
  echo $(((now - start) / 1000))
}

# sources PATTERN: the project's C++ files whose path matches the extended regular expression, tracked or new
# but not ignored, relative to the checkout. Without git (a release archive) it looks into the project's folders.
sources() {
  local file found=0 git=(git -c safe.directory="$root" -C "$root")
  while IFS= read -r file; do
    if [[ $file =~ \.(h|hpp|cpp)$ && $file =~ $1 && -f $root/$file ]]; then
      printf '%s\n' "$file"
      found=1
    fi
  done < <(
    if ! "${git[@]}" ls-files --cached --others --exclude-standard 2>/dev/null; then
      cd "$root" && find include src apps tests bench simt -type f 2>/dev/null
    fi | sort -u
  )
  if [[ $found -eq 0 ]]; then fail "found no C++ files in $root"; fi
}

# leave_root FOLDER ARGUMENT…: under `sudo`, runs the calling script again, with the arguments, as the user who
# typed sudo, so that the build and the results in FOLDER belong to that user. Call it when apt's work is done:
# nothing else needs root. It returns where there is no such user, or where that user may not write.
leave_root() {
  local user=${SUDO_USER:-root} folder
  if [[ $EUID -ne 0 || $user == root ]]; then return; fi
  for folder in "$root" "$root/build" "$1"; do
    if [[ -e $folder ]] && ! sudo -u "$user" test -w "$folder"; then return; fi
  done
  shift
  exec sudo -H -u "$user" -- "$(readlink -f "$0")" "$@"
}

# need_build_folder PRESET: makes it, and fails where it cannot be written.
need_build_folder() {
  local folder=$root/build/$1
  mkdir -p "$folder" 2>/dev/null || true
  if [[ ! -w $folder ]]; then
    fail "cannot write to $folder (made by another user?); remove it or run with sudo"
  fi
}

# configure PRESET OPTION…: the full log is shown only when configuring fails.
configure() {
  local preset=$1 log=$root/build/$1/configure.log
  shift
  need_build_folder "$preset"
  if ! (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1; then
    cat "$log" >&2
    return 1
  fi
}

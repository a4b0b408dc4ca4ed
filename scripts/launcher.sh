#!/bin/sh
# Starts Curt with the Bun that npm installed for this system. It needs no install script, which npm 12 would block.
program=$0
# npm makes a link to this file.
while [ -L "$program" ]; do
  target=$(readlink "$program")
  case $target in
    /*) program=$target ;;
    *) program=$(dirname "$program")/$target ;;
  esac
done
here=$(cd "$(dirname "$program")" && pwd -P)

# The last one is for projects that have the package `bun` as well: its install script moves Bun there.
for bun in "$here"/node_modules/@oven/bun-*/bin/bun "$here"/../@oven/bun-*/bin/bun "$here"/../bun/bin/bun.exe; do
  # Bun must not read settings that happen to be in the folder where Curt is started.
  [ -x "$bun" ] && exec "$bun" --no-env-file --config="$here/bunfig.toml" "$here/main.js" "$@"
done
echo "curt: there is no Bun for this system: install Curt with its optional dependencies, on Linux or macOS" >&2
exit 1

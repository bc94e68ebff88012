#!/bin/sh
# First on the PATH of a check, under the name of a program that may run tests. A script may have set, emptied or dropped
# the variable by which the program is asked for a report: it is asked again here, and what the script set is kept.
here=${0%/*}
name=${0##*/}
case $name in
node)
  # As an argument: the variable is the project's alone, and a file of variables (--env-file) may still set it.
  ours=--require=$here/preload.cjs
  case ${NODE_OPTIONS-} in
  "$ours") unset NODE_OPTIONS ;;
  *" $ours") NODE_OPTIONS=${NODE_OPTIONS%" $ours"} ;;
  esac
  set -- "$ours" "$@"
  ;;
go)
  case " ${GOFLAGS-} " in
  *" -v "*) ;;
  *) export GOFLAGS="${GOFLAGS:+$GOFLAGS }-v" ;;
  esac
  ;;
*)
  case ${PYTEST_ADDOPTS-} in
  *"$here/out/pytest.xml"*) ;;
  *) export PYTEST_ADDOPTS="${PYTEST_ADDOPTS:+$PYTEST_ADDOPTS }--junitxml=$here/out/pytest.xml -o junit_family=xunit1" ;;
  esac
  ;;
esac
set -f
IFS=:
for folder in $PATH; do
  if [ "$folder" != "$here" ] && [ -f "$folder/$name" ] && [ -x "$folder/$name" ]; then exec "$folder/$name" "$@"; fi
done
echo "$name: not found" >&2
exit 127

#!/bin/sh
# A tool of a CUDA toolkit that does as the real tool in $REAL, unless one of
# its arguments has $FAIL in it: then it prints a line and fails; or $SPOIL: then
# its output file is no object file; or $SILENT: then it prints nothing. The PTX
# that it is given is copied into the folder $KEEP, if there is one.
tool=$(basename "$0")
output=
previous=
for word; do
  case "$previous" in -o | --output-file) output=$word ;; esac
  case "$word" in *.ptx) [ -z "$KEEP" ] || cp "$word" "$KEEP" ;; esac
  previous=$word
done
case "$tool $*" in
*"${FAIL:-no such word}"*)
  echo "$tool cannot do this"
  exit 7
  ;;
*"${SPOIL:-no such word}"*) echo text >"$output" ;;
*"${SILENT:-no such word}"*) exec "$REAL/$tool" "$@" >/dev/null 2>&1 ;;
*) exec "$REAL/$tool" "$@" ;;
esac

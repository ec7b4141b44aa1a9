#!/bin/sh
# Verifies what the service has sealed by Go's note and tlog packages, and by Python's cryptography.
set -eu
cd "$(dirname "$0")"
here=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

key=$(node write.ts "$work/archive")

mkdir "$work/go"
cp verify.go.txt "$work/go/main.go"
cd "$work/go"
go mod init archive 2>/dev/null
go get golang.org/x/mod@v0.43.0 2>/dev/null
found=$(go run . "$work/archive" "$key")

python3 -m venv "$work/python"
"$work/python/bin/pip" install --quiet --disable-pip-version-check cryptography==48.0.0
found="$found
$("$work/python/bin/python" "$here/verify.py" "$work/archive" "$key")"

# one byte of one line: both must refuse it
segment=$(ls "$work"/archive/*/segments/* | sed -n 3p)
sed -i '2s/"id":/"iD":/' "$segment"
for refused in "go run ." "$work/python/bin/python $here/verify.py"; do
  if $refused "$work/archive" "$key" >/dev/null 2>&1; then
    echo "a changed line is not found by: $refused" >&2
    exit 1
  fi
done
echo "$found"

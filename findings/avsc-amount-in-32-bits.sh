#!/usr/bin/env bash
# avsc 5.7.9 (npm): Type.forValue, which makes an Avro type of an example.
#
# One would guess: a number becomes a double, as it is one in JavaScript, or a long if it is whole.
# What happens: a whole number within 32 bits is an int. Any other below 2^53 is a float of 32 bits, a whole one too:
# 12,345.678901 TRX in sun come back as 12,345.678848. The type double is for 9007199254740991 and more. isValid says
# true, and neither toBuffer nor fromBuffer complains.
# Who is hit: events whose type is inferred from the first of them. If that was small, the type is an int, and a large
# amount is refused with an error; if it was large, every later one is rounded to 24 bits, without an error.
# Instead: write the schema, with a long, or a string beyond 2^53. valueHook can make every number a double.
set -euo pipefail
for tool in node npm; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund avsc@5.7.9 >&2

cat > run.mjs <<'JS'
import avro from 'avsc'

for (const first of [2147483647, 12345678901, 25.37, 9007199254740991]) {
  const type = avro.Type.forValue({ amount: first })
  console.log(`the first is ${first}: ${type.field('amount').type.typeName}`)
  for (const amount of [5, 123456789, 12345678901]) {
    let answer
    try {
      answer = `valid ${type.isValid({ amount })}, read ${type.fromBuffer(type.toBuffer({ amount })).amount}`
    } catch (error) {
      answer = error.message
    }
    console.log(`  ${amount}: ${answer}`)
  }
}
JS

seen=$(node run.mjs)
expected='the first is 2147483647: int
  5: valid true, read 5
  123456789: valid true, read 123456789
  12345678901: invalid "int": 12345678901
the first is 12345678901: float
  5: valid true, read 5
  123456789: valid true, read 123456792
  12345678901: valid true, read 12345678848
the first is 25.37: float
  5: valid true, read 5
  123456789: valid true, read 123456792
  12345678901: valid true, read 12345678848
the first is 9007199254740991: double
  5: valid true, read 5
  123456789: valid true, read 123456789
  12345678901: valid true, read 12345678901'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"

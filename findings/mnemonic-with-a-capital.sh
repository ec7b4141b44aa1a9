#!/usr/bin/env bash
# bip39 3.1.2, @scure/bip39 2.4.0, ethers 6.17.0 (npm), mnemonic 0.21 (PyPI): a phrase that begins with a capital
# letter, as a phone types it.
#
# One would guess: the checksum and the list of words catch a phrase that is typed wrong.
# What happens: making a seed looks at neither. bip39, @scure/bip39 and PyPI's mnemonic answer "Test test ..." with the
# seed of another wallet, and no error. ethers makes small letters first, and gives the right one. For two spaces
# between words @scure/bip39 does throw, since it counts words, and the other two give a third wallet. Each has a
# function that says that the phrase is not valid. Making a seed does not call it.
# Who is hit: whoever restores a wallet with a library that is not the one that made it. It is empty, looks new, and
# money that is sent to it can be spent with that spelling alone.
# Instead: call the validity function first, and compare the first address with a known one.
set -euo pipefail
for tool in node npm python3; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --prefix . --silent --no-audit --no-fund bip39@3.1.2 @scure/bip39@2.4.0 ethers@6.17.0 >&2
python3 -m venv venv >/dev/null || { echo "python3's venv is missing" >&2; exit 77; }
venv/bin/pip install --quiet --disable-pip-version-check mnemonic==0.21 >&2

cat > run.mjs <<'JS'
import { mnemonicToSeedSync as scure, validateMnemonic } from '@scure/bip39'
import { wordlist } from '@scure/bip39/wordlists/english.js'
import bip39 from 'bip39'
import { Mnemonic } from 'ethers'

const start = (seed) => Buffer.from(seed).toString('hex').slice(0, 8)
const readers = {
  bip39: (phrase) => `${start(bip39.mnemonicToSeedSync(phrase))}, valid ${bip39.validateMnemonic(phrase)}`,
  scure: (phrase) => `${start(scure(phrase))}, valid ${validateMnemonic(phrase, wordlist)}`,
  ethers: (phrase) => Mnemonic.fromPhrase(phrase).computeSeed().slice(2, 10),
}
for (const [name, read] of Object.entries(readers)) {
  const answers = process.argv.slice(2).map((phrase) => {
    try {
      return read(phrase)
    } catch {
      return 'refused'
    }
  })
  console.log(`${name}: ${answers.join(' | ')}`)
}
JS
cat > run.py <<'PY'
import sys
from mnemonic import Mnemonic

english = Mnemonic("english")
print("mnemonic:", " | ".join(f"{Mnemonic.to_seed(p).hex()[:8]}, valid {english.check(p)}" for p in sys.argv[1:]))
PY

rest='test test test test test test test test test test junk' # the phrase that is public everywhere
phrases=("test $rest" "Test $rest" "test  $rest")
seen=$(node run.mjs "${phrases[@]}" && venv/bin/python run.py "${phrases[@]}")
expected='bip39: 9dfc3c64, valid true | 20b8f79a, valid false | feb413d2, valid false
scure: 9dfc3c64, valid true | 20b8f79a, valid false | refused
ethers: 9dfc3c64 | 9dfc3c64 | 9dfc3c64
mnemonic: 9dfc3c64, valid True | 20b8f79a, valid False | feb413d2, valid False'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"

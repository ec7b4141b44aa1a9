#!/usr/bin/env bash
# anychain-tron 0.2.14 with anychain-core 0.1.8 (crates.io): the id of one transaction, asked twice.
#
# One would guess: an id is a hash of the transaction, so it is the same each time.
# What happens: a timestamp of 0, which is the default, means "now" at each serialisation. Of one object that nobody
# changes, the id and the bytes are others 20 ms later. With a timestamp they stay, until sign(): then the id is that of
# the signed bytes, which is not the one that the chain knows.
# Who is hit: a signer that stores the id and then serialises: the stored id is never found, and the payout looks lost
# while it is paid. A signature over the first bytes does not fit those that are sent.
# Instead: set_timestamp() before anything is asked, the id asked before sign(), or sha256 of the raw bytes that are
# sent.
set -euo pipefail
command -v cargo >/dev/null || { echo "cargo is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat > Cargo.toml <<'TOML'
[package]
name = "example"
version = "1.0.0"
edition = "2021"
[dependencies]
anychain-core = "=0.1.8"
anychain-tron = "=0.2.14"
TOML
cat > src/main.rs <<'RUST'
use anychain_core::Transaction;
use anychain_tron::{trx, TronTransaction, TronTransactionParameters};
use std::{thread::sleep, time::Duration};

fn id(transaction: &TronTransaction) -> String {
    transaction.to_transaction_id().unwrap().to_string()
}

fn main() {
    let (from, to) = ("TWer2Ygk5TEheHp3TPuYeqxmB6SsGZmaL6", "TPjjvMwjPoDC32V2dGDYTkLH4E5LAtBZ6C");
    let mut parameters = TronTransactionParameters::default();
    parameters.set_ref_block(26661399, "000000000196d21784deb05dee04c69ed112b8e078e74019f9a0b1df6adc414e");
    parameters.set_contract(trx::build_transfer_contract(from, to, "1000000").unwrap());
    for timestamp in [0, 1_800_000_000_000] {
        parameters.set_timestamp(timestamp);
        let mut transaction = TronTransaction::new(&parameters).unwrap();
        let first = id(&transaction);
        sleep(Duration::from_millis(20));
        println!("timestamp {timestamp}: the same id 20 ms later: {}", first == id(&transaction));
        if timestamp != 0 {
            transaction.sign(vec![7; 64], 0).unwrap();
            println!("timestamp {timestamp}: the same id once signed: {}", first == id(&transaction));
        }
    }
}
RUST

seen=$(cargo run --quiet)
expected='timestamp 0: the same id 20 ms later: false
timestamp 1800000000000: the same id 20 ms later: true
timestamp 1800000000000: the same id once signed: false'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"

#!/usr/bin/env bash
# serde_json 1.0.154 with serde 1.0.228 (crates.io): the feature arbitrary_precision.
#
# One would guess: it keeps the digits of numbers, and what has been read before is read with it too.
# What happens: a fraction can no longer be read through an enum with a tag: "invalid type: map, expected f64". A whole
# number in the same place is read well, and a plain struct reads both. Also 1.0 and 1.00 are no longer equal as Value.
# Features are joined over the whole build, so that any crate in the tree can switch it on for all others.
# Who is hit: a receiver of events `{"type": "deposit", "amt": 25.5}` with #[serde(tag = "type")]. It compiles and
# passes with whole amounts, and fails with the first fraction, after `cargo update` of something else.
# Instead: amounts as text, or serde_json::Number in such types (it is read with and without the feature).
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
serde = { version = "=1.0.228", features = ["derive"] }
serde_json = "=1.0.154"
[features]
exact = ["serde_json/arbitrary_precision"]
TOML
cat > src/main.rs <<'RUST'
#![allow(dead_code)]
use serde::{de::DeserializeOwned, Deserialize};
use serde_json::{from_str, Number, Value};

#[derive(Deserialize)]
struct Plain { amt: f64 }

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Tagged { Deposit { amt: f64 } }

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Numbered { Deposit { amt: Number } }

fn read<T: DeserializeOwned>(name: &str) {
    for amount in ["25", "25.5"] {
        let answer = from_str::<T>(&format!(r#"{{"type":"deposit","amt":{amount}}}"#));
        println!("  {name}, {amount}: {}", answer.map_or_else(|error| error.to_string(), |_| "read".into()));
    }
}

fn main() {
    read::<Plain>("struct");
    read::<Tagged>("tagged enum");
    read::<Numbered>("tagged enum of Number");
    println!("  1.0 equals 1.00: {}", from_str::<Value>("1.0").unwrap() == from_str::<Value>("1.00").unwrap());
}
RUST

seen=$(echo 'without the feature:' && cargo run --quiet && echo 'with it:' && cargo run --quiet --features exact)
expected='without the feature:
  struct, 25: read
  struct, 25.5: read
  tagged enum, 25: read
  tagged enum, 25.5: read
  tagged enum of Number, 25: read
  tagged enum of Number, 25.5: read
  1.0 equals 1.00: true
with it:
  struct, 25: read
  struct, 25.5: read
  tagged enum, 25: read
  tagged enum, 25.5: invalid type: map, expected f64
  tagged enum of Number, 25: read
  tagged enum of Number, 25.5: read
  1.0 equals 1.00: false'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"

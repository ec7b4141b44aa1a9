# Rust: standardwebhooks and svix from crates.io.
mkdir src
cp "$HERE/rust.rs.txt" src/main.rs
cat > Cargo.toml <<'TOML'
[package]
name = "receiver"
version = "0.0.0"
edition = "2021"

[dependencies]
http = "1"
serde_json = { version = "1", features = ["arbitrary_precision"] }
standardwebhooks = "=1.0.1"
svix = "=2.9.1"
TOML
cargo run --quiet 2> log || tail -5 log

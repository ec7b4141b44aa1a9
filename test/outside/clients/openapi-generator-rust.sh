# Rust, openapi-generator: reqwest and serde. It reads every amount as an f64.
mvn -q dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.17.0 -DoutputDirectory=. > generated.log 2>&1
java -jar openapi-generator-cli-7.17.0.jar generate -g rust -i "$DOCUMENT" -o made >> generated.log 2>&1
echo "left out: $((LEDGER_ROUTES - $(grep -c '^pub async fn' made/src/apis/ledger_api.rs)))"
mkdir -p program/src
cp "$HERE/openapi-generator-rust.rs.txt" program/src/main.rs
cat > program/Cargo.toml <<'TOML'
[package]
name = "program"
version = "0.0.0"
edition = "2021"

[dependencies]
openapi = { path = "../made", default-features = false }
reqwest = { version = "0.12", default-features = false }
tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
TOML
cd program
cargo run --quiet 2>> ../generated.log || tail -3 ../generated.log

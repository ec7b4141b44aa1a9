//! Rust's libraries: the addresses of an extended public key, and the wallet of a mnemonic in several spellings. See judge.ts.

use bip32::{ChildNumber, DerivationPath, Prefix, PublicKey, XPrv, XPub};
use serde_json::{json, Map, Value};

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let given: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let account: XPub = given["xpub"].as_str().unwrap().parse().unwrap();
    let external = account.derive_child(ChildNumber::new(0, false).unwrap()).unwrap();
    let keys: Vec<String> = given["indices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|index| ChildNumber::new(index.as_u64().unwrap() as u32, false).unwrap())
        .map(|step| hex::encode(external.derive_child(step).unwrap().public_key().to_bytes()))
        .collect();
    let mut spellings = Map::new();
    for (name, words) in given["spellings"].as_object().unwrap() {
        let path: DerivationPath = "m/44'/195'/0'".parse().unwrap();
        let made = bip39::Mnemonic::parse(words.as_str().unwrap())
            .ok()
            .map(|mnemonic| XPrv::derive_from_path(mnemonic.to_seed(""), &path).unwrap())
            .map(|key| key.public_key().to_string(Prefix::XPUB));
        spellings.insert(name.clone(), json!(made));
    }
    let library = "bip32 0.5.3 with bip39 2.2.0 (crates.io)";
    println!("{}", json!({ "library": library, "path": "0, i", "keys": keys, "spellings": spellings }));
}

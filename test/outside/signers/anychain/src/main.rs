//! anychain-tron: by default, and with the settings of docs/guides/signers.md ("as below"). The caller signs the digest, and passes the signature and
//! its recovery number. See judge.ts.

use anychain_core::Transaction;
use anychain_tron::protocol::Tron::transaction::Contract;
use anychain_tron::trx::{build_transfer_contract, build_trc20_transfer_contract, build_trigger_contract};
use anychain_tron::{TronTransaction, TronTransactionParameters};
use serde_json::Value;
use sha2::{Digest, Sha256};

struct Case(Value);

impl Case {
    fn text(&self, name: &str) -> &str {
        self.0[name].as_str().unwrap()
    }
    fn number(&self, name: &str) -> i64 {
        self.0[name].as_i64().unwrap()
    }

    /// `timestamp` must be set: 0 means "now" at each serialisation, and then what is signed is not what is sent.
    fn sign(&self, what: &str, contract: Contract, life_ms: Option<i64>, fee_limit: i64) {
        let mut parameters = TronTransactionParameters::default();
        let head = &self.0["head"];
        parameters.set_ref_block(head["height"].as_i64().unwrap(), head["hash"].as_str().unwrap());
        parameters.set_timestamp(self.number("timestamp"));
        if let Some(ms) = life_ms {
            parameters.set_expiration(ms); // counted from the timestamp
        }
        parameters.set_fee_limit(fee_limit);
        parameters.set_contract(contract);
        let mut transaction = TronTransaction::new(&parameters).unwrap();
        let digest: [u8; 32] = Sha256::digest(transaction.to_bytes().unwrap()).into();
        let key = libsecp256k1::SecretKey::parse_slice(&hex::decode(self.text("privateKey")).unwrap()).unwrap();
        let (signature, recovery) = libsecp256k1::sign(&libsecp256k1::Message::parse(&digest), &key);
        let message = transaction.sign(signature.serialize().to_vec(), recovery.serialize()).unwrap();
        println!("{what}\t{}", hex::encode(message));
    }
}

fn main() {
    let path = std::env::args().nth(1).unwrap();
    let case = Case(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap());
    let (from, to, token) = (case.text("from"), case.text("to"), case.text("contract"));
    let (sun, units) = (case.number("sun").to_string(), case.number("units").to_string());
    let transfer = || build_transfer_contract(from, to, &sun).unwrap();

    case.sign("TRX by default", transfer(), None, 0);
    let default = build_trc20_transfer_contract(from, token, to, &units).unwrap();
    case.sign("token by default", default, None, 50_000_000);

    let data = format!("a9059cbb{:0>64}{:064x}", case.text("toHex"), case.number("units"));
    let own = build_trigger_contract(from, token, hex::decode(data).unwrap()).unwrap();
    let life = Some(case.number("expiration") - case.number("timestamp"));
    case.sign("TRX as below", transfer(), life, 0);
    case.sign("token as below", own, life, case.number("feeLimit"));
}

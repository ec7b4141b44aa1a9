"""tronpy: by default with a node's newest solid block, and with the settings of docs/guides/signers.md ("as below"). Its own protobuf messages make
the bytes. See judge.ts."""

import json
import sys

from tronpy import Tron
from tronpy.keys import PrivateKey, to_hex_address
from tronpy.proto import tron_pb2
from tronpy.proto.transaction import _raw_data_to_protobuf
from tronpy.providers import HTTPProvider

given = json.load(open(sys.argv[1]))
client = Tron(HTTPProvider(sys.argv[2]))
key = PrivateKey(bytes.fromhex(given["privateKey"]))


def message_of(transaction):
    """The whole signed message in hex, as for `broadcasthex`."""
    signed = transaction.sign(key).to_json()
    raw = _raw_data_to_protobuf(signed["raw_data"])
    return tron_pb2.Transaction(raw_data=raw, signature=[bytes.fromhex(signed["signature"][0])]).SerializeToString().hex()


def word(number):
    return format(number, "064x")


def trx():
    return client.trx.transfer(given["from"], given["to"], given["sun"])


def token():
    data = "a9059cbb" + word(int(given["toHex"], 16)) + word(given["units"])
    value = {
        "owner_address": to_hex_address(given["from"]),
        "contract_address": to_hex_address(given["contract"]),
        "data": data,
    }
    return client.trx._build_transaction("TriggerSmartContract", value)


def show(what, builder, block):
    print(what, message_of(builder.build(offline=True, ref_block_id=block)), sep="\t")


solid = client.get_latest_solid_block_id()  # what `build()` refers to
show("TRX by default", trx(), solid)
show("token by default", token(), solid)

head = given["head"]["hash"]
show("TRX as below", trx().expiration(14 * 60_000), head)
show("token as below", token().expiration(14 * 60_000).fee_limit(given["feeLimit"]), head)

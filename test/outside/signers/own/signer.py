import json, os, urllib.request
from decimal import Decimal
from tronpy import Tron
from tronpy.keys import PrivateKey, to_hex_address
from tronpy.proto import tron_pb2
from tronpy.proto.transaction import _raw_data_to_protobuf

key, trx = PrivateKey(bytes.fromhex(os.environ["PAYOUT_KEY"])), Tron().trx
own, usdt = key.public_key.to_base58check_address(), to_hex_address(os.environ["USDT"])  # its own settings, never what a service says

def service(path, body=None):
    headers = {"authorization": "Bearer " + os.environ["TOKEN"], "content-type": "application/json"}
    request = urllib.request.Request(os.environ["WALLET"] + path, body and json.dumps(body).encode(), headers)
    return json.load(urllib.request.urlopen(request), parse_float=Decimal)["data"]

offer = service("/ledger/payouts/unsigned")
for payout in offer["list"]:
    to, units = payout["to"], int(payout["amt"] * 10**6)
    data = "a9059cbb" + to_hex_address(to)[2:].rjust(64, "0") + format(units, "064x")  # 20 bytes, without 41
    call = {"owner_address": to_hex_address(own), "contract_address": usdt, "data": data}
    made = trx._build_transaction("TriggerSmartContract", call) if payout["cuy"] == 2 else trx.transfer(own, to, units)
    signed = made.expiration(600_000).build(offline=True, ref_block_id=offer["head"]["hash"]).sign(key).to_json()
    raw, signature = _raw_data_to_protobuf(signed["raw_data"]), bytes.fromhex(signed["signature"][0])  # a journal belongs here
    message = tron_pb2.Transaction(raw_data=raw, signature=[signature]).SerializeToString().hex()
    print(service("/ledger/payouts/signed", {"signed": [{"id": payout["id"], "transaction": message}]}))

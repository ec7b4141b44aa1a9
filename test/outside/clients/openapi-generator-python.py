import os

from openapi_client import ApiClient, ApiException, Configuration, LedgerApi, TronApi, WalletApi
from openapi_client.models import (
    EntryToPost,
    EntryToTake,
    NegativeAmount,
    PostEntriesRequest,
    SignedPayoutsRequest,
    SignedPayoutsRequestSignedInner,
)


def client(token):
    return ApiClient(Configuration(host=os.environ["WALLET"], access_token=os.environ[token]))


user, backend = client("USER_TOKEN"), LedgerApi(client("BACKEND_TOKEN"))
flows = WalletApi(user).list_flows().data.list
print("amounts:", *(f"{type(flow.amt).__name__} {flow.amt}" for flow in flows if flow.type == 9))
print("uid:", flows[0].uid)
print("no data:", TronApi(user).recharge().msg.split(":")[0])
print("event:", type(backend.list_ledger_events().data.list[0].actual_instance).__name__)
signed = SignedPayoutsRequest(signed=[SignedPayoutsRequestSignedInner(id=1, transaction="00")])
refused = backend.hand_in_signed_payouts(signed_payouts_request=signed).data.list[0].actual_instance
print("union:", refused.refused.reason)


def post(osn, amt):
    entry = EntryToTake(uid=flows[0].uid, cuy=2, type=4, osn=osn, amt=NegativeAmount(amt))
    body = PostEntriesRequest(entries=[EntryToPost(entry)])
    try:
        return f"200 {backend.post_ledger_entries(post_entries_request=body).msg}"
    except ApiException as refusal:
        return f"{refusal.status} {refusal.data.msg}"


print("as text:", post("generator-text", "-0.000001"))
print("as number:", post("generator-number", -0.000001))

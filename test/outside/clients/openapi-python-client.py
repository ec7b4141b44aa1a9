import os

from client import AuthenticatedClient
from client.api.ledger import hand_in_signed_payouts, list_ledger_events, post_ledger_entries
from client.api.tron import recharge
from client.api.wallet import list_flows
from client.models import (
    EntryToTake,
    TypeToTake,
    PostEntriesRequest,
    SignedPayoutsRequest,
    SignedPayoutsRequestSignedItem,
)

user = AuthenticatedClient(os.environ["WALLET"], os.environ["USER_TOKEN"])
backend = AuthenticatedClient(os.environ["WALLET"], os.environ["BACKEND_TOKEN"])

flows = list_flows.sync(client=user)
print("amounts:", *(f"{type(flow.amt).__name__} {flow.amt}" for flow in flows.data.list_ if flow.type_ == 9))
print("uid:", flows.data.list_[0].uid)
print("no data:", recharge.sync(client=user).msg.split(":")[0])
events = list_ledger_events.sync(client=backend)
print("event:", type(events.data.list_[0]).__name__)
signed = SignedPayoutsRequest([SignedPayoutsRequestSignedItem(1, "00")])
print("union:", hand_in_signed_payouts.sync(client=backend, body=signed).data.list_[0].refused.reason)


def post(osn, amt):
    entry = EntryToTake(uid=flows.data.list_[0].uid, cuy=2, type_=TypeToTake(4), osn=osn, amt=amt)
    answer = post_ledger_entries.sync_detailed(client=backend, body=PostEntriesRequest([entry]))
    return f"{answer.status_code.value} {answer.parsed.msg}"


print("as text:", post("python-text", "-0.000001"))
print("as number:", post("python-number", -0.000001))

import json
import os

from standardwebhooks import Webhook as Standard
from svix.webhooks import Webhook as Svix

with open(os.environ["DELIVERY"], encoding="utf-8") as file:
    delivery = json.load(file)
headers, body, secrets = delivery["headers"], delivery["body"], delivery["secrets"]
capitals = {name.upper(): value for name, value in headers.items()}


def verify(library, secret, sent=headers, text=body):
    try:
        return ["accepted", library(secret).verify(text, sent)]
    except Exception:
        return ["refused", None]


for name, library in {"standardwebhooks": Standard, "svix": Svix}.items():
    fresh = secrets["fresh"]
    word = lambda *given: verify(library, *given)[0]
    print(f"{name}: new secret {word(fresh)}, old {word(secrets['old'])}, another {word(secrets['other'])}")
    print(f"{name}: changed body {word(fresh, headers, body.replace('9007', '9008'))}")
    print(f"{name}: names in capitals {word(fresh, capitals)}")
    newline, both = word(fresh + "\n"), word(f"{secrets['other']} {secrets['old']}")
    print(f"{name}: body as bytes {word(fresh, headers, body.encode())}, newline behind the secret {newline}, two secrets in one {both}")
    event = verify(library, fresh)[1]
    print(f"{name}: amount {event['data']['entry']['amt'] if isinstance(event, dict) else 'not returned'}")

import json
from decimal import Decimal

import msgspec
import orjson
import pydantic
import simplejson

text = '{"amt":9007199254.740991}'


class Entry(pydantic.BaseModel):
    amt: Decimal


class Exact(msgspec.Struct):
    amt: Decimal


print("json:", json.loads(text)["amt"], "; with parse_float=Decimal:", json.loads(text, parse_float=Decimal)["amt"])
print("simplejson with use_decimal:", simplejson.loads(text, use_decimal=True)["amt"])
print("orjson:", orjson.loads(text)["amt"])
print("pydantic, a Decimal from JSON:", Entry.model_validate_json(text).amt)
print("msgspec, a Decimal:", msgspec.json.decode(text, type=Exact).amt)
small = Decimal("0.0000001")
print("written: json of a float", json.dumps(0.000001), "; str of a Decimal", str(small), "; format of it", format(small, "f"))

#!/usr/bin/env bash
# openapi-generator 7.17.0 (Maven), csharp with the library httpclient and Newtonsoft.Json 12.0.1 (npm), under Mono.
#
# One would guess: a property of the type decimal keeps the digits that the text has, wherever the object stands.
# What happens: it keeps them in an object of its own schema. Where the same schema is a branch of a oneOf, the generated
# converter first loads the object as a tree, which holds fractions as doubles, and so the decimal gets a double's digits.
# Nothing fails: the type is decimal in both cases.
# Who is hit: readers of a feed whose items are a oneOf of events. A list of payments is exact, and the event of the same
# payment differs from the sixteenth digit on. Whoever compares both for equality finds a difference.
# Instead: amounts as text in the schema, or each event read by its own class.
set -euo pipefail
for tool in java mvn npm mcs mono; do
  command -v "$tool" >/dev/null || { echo "$tool is missing" >&2; exit 77; }
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mvn --quiet --batch-mode dependency:copy -Dartifact=org.openapitools:openapi-generator-cli:7.17.0 -DoutputDirectory=. \
  >log.txt 2>&1 || { cat log.txt >&2; exit 1; }
npm pack --silent jillejr.newtonsoft.json-for-unity@12.0.101 >log.txt
tar xzf jillejr.newtonsoft.json-for-unity-12.0.101.tgz
cp "package/Plugins/Newtonsoft.Json Editor/Newtonsoft.Json.dll" .
cat > api.json <<'JSON'
{
  "openapi": "3.0.3",
  "info": { "title": "Example", "version": "1" },
  "paths": {
    "/events": {
      "get": {
        "operationId": "listEvents",
        "responses": {
          "200": {
            "description": "events",
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Event" } } }
          }
        }
      }
    }
  },
  "components": {
    "schemas": {
      "Paid": {
        "type": "object",
        "required": ["paid"],
        "additionalProperties": false,
        "properties": { "paid": { "type": "number" } }
      },
      "Refunded": {
        "type": "object",
        "required": ["refunded"],
        "additionalProperties": false,
        "properties": { "refunded": { "type": "number" } }
      },
      "Event": { "oneOf": [{ "$ref": "#/components/schemas/Paid" }, { "$ref": "#/components/schemas/Refunded" }] }
    }
  }
}
JSON
java -jar openapi-generator-cli-7.17.0.jar generate -g csharp --library httpclient -i api.json -o made \
  --additional-properties=targetFramework=net48,validatable=false >log.txt 2>&1 || { cat log.txt >&2; exit 1; }
# Its HTTP client names a package that only NuGet has; the models alone read JSON.
cat > Run.cs <<'CSHARP'
using System;
using Newtonsoft.Json;
using Org.OpenAPITools.Model;

public static class Run
{
    public static void Main()
    {
        foreach (var digits in new[] { "25.5", "12345.678901", "9007199254.740991" })
        {
            var text = "{\"paid\":" + digits + "}";
            var alone = JsonConvert.DeserializeObject<Paid>(text).VarPaid;
            var branch = ((Paid)JsonConvert.DeserializeObject<Event>(text).ActualInstance).VarPaid;
            Console.WriteLine(digits + ": " + alone.GetType().Name + " " + alone + " alone, "
                + branch.GetType().Name + " " + branch + " in a oneOf");
        }
    }
}
CSHARP
mcs -langversion:latest -out:run.exe -r:Newtonsoft.Json.dll -r:System.Runtime.Serialization.dll \
  -r:System.ComponentModel.DataAnnotations.dll -r:System.Net.Http.dll -r:System.Web.dll \
  Run.cs made/src/Org.OpenAPITools/Model/*.cs made/src/Org.OpenAPITools/Client/{OpenAPIDateConverter,FileParameter}.cs >log.txt 2>&1 ||
  { cat log.txt >&2; exit 1; }

seen=$(mono run.exe)
expected='25.5: Decimal 25.5 alone, Decimal 25.5 in a oneOf
12345.678901: Decimal 12345.678901 alone, Decimal 12345.678901 in a oneOf
9007199254.740991: Decimal 9007199254.740991 alone, Decimal 9007199254.7409916 in a oneOf'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"

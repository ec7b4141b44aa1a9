#!/usr/bin/env bash
# github.com/shopspring/decimal 1.6.0, github.com/govalues/decimal 0.1.36, github.com/cockroachdb/apd/v3 3.2.3 (Go):
# units of a token with 18 decimals.
#
# One would guess: a decimal library is exact, or returns an error.
# What happens: 12000000000000000001 units are 12.000000000000000001 of a token. shopspring's Div keeps 16 decimals, so
# that it is 12, and one unit is 0. govalues holds 19 digits: Parse cuts the last one and returns no error, and 20
# tokens plus one unit are 20. apd reads any text, and says in its condition that a quotient is inexact.
# Who is hit: amounts in wei made into tokens by dividing by 10^18, and balances of 10 tokens and more in govalues.
# Below ten tokens, where tests are, each digit is there.
# Instead: shopspring's Shift(-18), which is exact; integers of units in big.Int; apd with the condition looked at.
set -euo pipefail
command -v go >/dev/null || { echo "go is missing" >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > main.go <<'GO'
package main

import (
	"fmt"

	"github.com/cockroachdb/apd/v3"
	govalues "github.com/govalues/decimal"
	"github.com/shopspring/decimal"
)

func main() {
	units, one := decimal.RequireFromString("12000000000000000001"), decimal.RequireFromString("1")
	token := decimal.RequireFromString("1000000000000000000")
	fmt.Println("shopspring, Div:", units.Div(token), "and", one.Div(token))
	fmt.Println("shopspring, Shift:", units.Shift(-18), "and", one.Shift(-18))

	for _, text := range []string{"9.000000000000000001", "12.000000000000000001"} {
		value, err := govalues.Parse(text)
		fmt.Printf("govalues, Parse(%s): %v, error %v\n", text, value, err)
	}
	sum, err := govalues.MustParse("20").Add(govalues.MustParse("0.000000000000000001"))
	fmt.Printf("govalues, 20 and one unit: %v, error %v\n", sum, err)

	quotient := new(apd.Decimal)
	condition, err := apd.BaseContext.WithPrecision(19).Quo(quotient, mustApd("12000000000000000001"), mustApd("1e18"))
	fmt.Printf("apd, 19 digits: %v, condition %q, error %v\n", quotient, condition, err)
}

func mustApd(text string) *apd.Decimal {
	value, _, err := apd.NewFromString(text)
	if err != nil {
		panic(err)
	}
	return value
}
GO
{ go mod init example && go get github.com/shopspring/decimal@v1.6.0 github.com/govalues/decimal@v0.1.36 \
  github.com/cockroachdb/apd/v3@v3.2.3; } >log.txt 2>&1 || { cat log.txt >&2; exit 1; }

seen=$(go run .)
expected='shopspring, Div: 12 and 0
shopspring, Shift: 12.000000000000000001 and 0.000000000000000001
govalues, Parse(9.000000000000000001): 9.000000000000000001, error <nil>
govalues, Parse(12.000000000000000001): 12.00000000000000000, error <nil>
govalues, 20 and one unit: 20.00000000000000000, error <nil>
apd, 19 digits: 12.00000000000000000, condition "inexact, rounded", error <nil>'
if [ "$seen" != "$expected" ]; then
  printf 'This has changed. Expected:\n%s\nSeen:\n%s\n' "$expected" "$seen" >&2
  exit 1
fi
echo "$seen"

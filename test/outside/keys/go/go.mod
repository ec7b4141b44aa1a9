module keys

go 1.24

require (
	github.com/btcsuite/btcd v0.24.2
	github.com/btcsuite/btcd/btcutil v1.1.6
	github.com/tyler-smith/go-bip39 v1.1.0
)

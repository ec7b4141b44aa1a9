// Go's libraries: the addresses of an extended public key, and the wallet of a mnemonic in several spellings. See judge.ts.
package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/btcsuite/btcd/btcutil/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg"
	"github.com/tyler-smith/go-bip39"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func derive(key *hdkeychain.ExtendedKey, steps ...uint32) *hdkeychain.ExtendedKey {
	for _, step := range steps {
		key = must(key.Derive(step))
	}
	return key
}

func main() {
	var given struct {
		Xpub      string
		Indices   []uint32
		Spellings map[string]string
	}
	if err := json.Unmarshal(must(os.ReadFile(os.Args[1])), &given); err != nil {
		panic(err)
	}
	keys := []string{}
	for _, index := range given.Indices {
		key := derive(must(hdkeychain.NewKeyFromString(given.Xpub)), 0, index)
		keys = append(keys, hex.EncodeToString(must(key.ECPubKey()).SerializeCompressed()))
	}
	spellings := map[string]any{}
	for name, words := range given.Spellings {
		seed, err := bip39.NewSeedWithErrorChecking(words, "")
		spellings[name] = nil
		if err == nil {
			const hard = hdkeychain.HardenedKeyStart
			account := derive(must(hdkeychain.NewMaster(seed, &chaincfg.MainNetParams)), hard+44, hard+195, hard)
			spellings[name] = must(account.Neuter()).String()
		}
	}
	library := "hdkeychain of btcutil 1.1.6 with go-bip39 1.1.0 (Go)"
	line := must(json.Marshal(map[string]any{"library": library, "path": "0, i", "keys": keys, "spellings": spellings}))
	fmt.Println(strings.TrimSpace(string(line)))
}

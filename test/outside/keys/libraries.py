"""PyPI's libraries: the addresses of an extended public key, and the wallet of a mnemonic in several spellings. See judge.ts."""

import json
import sys

from bip_utils import Bip32Slip10Secp256k1, Bip39SeedGenerator
from hdwallet import HDWallet
from hdwallet.cryptocurrencies import Tron
from hdwallet.derivations import CustomDerivation
from hdwallet.hds import BIP32HD
from mnemonic import Mnemonic

given = json.load(open(sys.argv[1]))
ACCOUNT = "m/44'/195'/0'"


def account_of(seed):
    return Bip32Slip10Secp256k1.FromSeed(seed).DerivePath(ACCOUNT).PublicKey().ToExtended()


def show(library, path, key_at, account):
    spellings = {}
    for name, words in given["spellings"].items():
        try:
            spellings[name] = account(words)
        except Exception:  # each has its own
            spellings[name] = None
    keys = [key_at(path.replace("i", str(index))) for index in given["indices"]] if key_at else []
    print(json.dumps({"library": library, "path": path, "keys": keys, "spellings": spellings if account else None}))


def bip_utils_key(path):
    return Bip32Slip10Secp256k1.FromExtendedKey(given["xpub"]).DerivePath(path).PublicKey().RawCompressed().ToHex()


def hdwallet_key(path):
    wallet = HDWallet(cryptocurrency=Tron, hd=BIP32HD).from_xpublic_key(xpublic_key=given["xpub"], strict=False)
    return wallet.from_derivation(CustomDerivation(path=path)).public_key()


show("bip_utils 2.12.3 (PyPI)", "0/i", bip_utils_key, lambda words: account_of(Bip39SeedGenerator(words).Generate()))


def hdwallet_account(words):
    from hdwallet.mnemonics import BIP39Mnemonic

    wallet = HDWallet(cryptocurrency=Tron, hd=BIP32HD).from_mnemonic(BIP39Mnemonic(words))
    return wallet.from_derivation(CustomDerivation(path=ACCOUNT)).xpublic_key()


show("hdwallet 3.6.1 with hd=BIP32HD (PyPI)", "m/0/i", hdwallet_key, hdwallet_account)
show("mnemonic 0.21 (PyPI)", "–", None, lambda words: account_of(Mnemonic.to_seed(words)))

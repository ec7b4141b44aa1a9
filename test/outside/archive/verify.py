"""Verifies each checkpoint of an archive: its signature, and its root over the lines of the segments."""

import base64
import glob
import hashlib
import sys

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

folder, verifier = sys.argv[1:]
name, key_id, encoded = verifier.split("+", 2)
key = base64.b64decode(encoded, validate=True)
assert hashlib.sha256(name.encode() + b"\n" + key).digest()[:4].hex() == key_id and key[0] == 1


def root(leaves):
    """The root of RFC 6962, section 2.1."""
    if len(leaves) == 1:
        return leaves[0]
    half = 1 << ((len(leaves) - 1).bit_length() - 1)
    return hashlib.sha256(b"\x01" + root(leaves[:half]) + root(leaves[half:])).digest()


lines = []
for path in sorted(glob.glob(f"{folder}/*/segments/*.jsonl")):
    with open(path, "rb") as file:
        lines += file.read().removesuffix(b"\n").split(b"\n")
leaves = [hashlib.sha256(b"\x00" + line).digest() for line in lines]
checkpoints = glob.glob(f"{folder}/*/checkpoints/*.checkpoint")
for path in checkpoints:
    with open(path, encoding="utf-8", newline="") as file:
        text, signatures = file.read().split("\n\n")
    dash, signer, signature = signatures.removesuffix("\n").split(" ")
    signed = base64.b64decode(signature, validate=True)
    assert (dash, signer, signed[:4].hex()) == ("—", name, key_id), path
    Ed25519PublicKey.from_public_bytes(key[1:]).verify(signed[4:], f"{text}\n".encode())
    origin, size, encoded_root = text.split("\n")
    assert origin == name and base64.b64decode(encoded_root, validate=True) == root(leaves[: int(size)]), path
print("python:", len(lines), "lines,", len(checkpoints), "checkpoints")

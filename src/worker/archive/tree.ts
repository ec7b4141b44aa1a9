/** SHA-256 of some bytes: 32 bytes. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array

/**
 * A Merkle tree of RFC 6962 (section 2.1) that only grows, kept by the hashes of its complete
 * subtrees: one for each bit of `size` that is set, the largest first. So the tree of a billion
 * lines takes at most 30 hashes, and a line is added without the lines before it.
 */
export interface Tree {
  /** How many leaves there are. */
  readonly size: number
  /** Each 32 bytes. */
  readonly subtrees: readonly Uint8Array[]
}

export const emptyTree: Tree = { size: 0, subtrees: [] }

/** The hash of a leaf with these bytes. */
export function hashLeaf(bytes: Uint8Array, sha256: Sha256): Uint8Array {
  const input = new Uint8Array(bytes.length + 1) // the first byte, 0, marks a leaf
  input.set(bytes, 1)
  return sha256(input)
}

/** The tree with one more leaf, of which only the hash is needed. */
export function addLeaf({ size, subtrees }: Tree, leaf: Uint8Array, sha256: Sha256): Tree {
  const grown = [...subtrees]
  let hash = leaf
  // each set bit, from the lowest on, is a subtree as large as the one that ends in the new leaf
  for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2) hash = hashNode(grown.pop() ?? hash, hash, sha256)
  grown.push(hash)
  return { size: size + 1, subtrees: grown }
}

/** The root hash; that of an empty tree is the hash of nothing. */
export function rootOf({ subtrees }: Tree, sha256: Sha256): Uint8Array {
  const smallest = subtrees.at(-1)
  if (smallest === undefined) return sha256(new Uint8Array())
  return subtrees.slice(0, -1).reduceRight((right, left) => hashNode(left, right, sha256), smallest)
}

function hashNode(left: Uint8Array, right: Uint8Array, sha256: Sha256): Uint8Array {
  const input = new Uint8Array(65)
  input[0] = 1 // marks a node
  input.set(left, 1)
  input.set(right, 33)
  return sha256(input)
}

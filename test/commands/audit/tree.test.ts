import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { addLeaf, emptyTree, hashLeaf, rootOf } from '../../../src/worker/archive/tree.ts'

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest())
const ofHex = (text: string) => Buffer.from(text, 'hex')

/** The tree of these leaves, one after the other. */
const treeOf = (leaves: readonly Uint8Array[]) =>
  leaves.reduce((tree, leaf) => addLeaf(tree, hashLeaf(leaf, sha256), sha256), emptyTree)

/** The root as RFC 6962 defines it: by the largest power of two below the number of leaves. */
function definedRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const [first] = leaves
  if (first === undefined) return sha256(Buffer.alloc(0))
  if (leaves.length === 1) return sha256(Buffer.concat([Buffer.of(0), first]))
  const half = 2 ** Math.floor(Math.log2(leaves.length - 1))
  return sha256(Buffer.concat([Buffer.of(1), definedRoot(leaves.slice(0, half)), definedRoot(leaves.slice(half))]))
}

it('has the roots that the reference code of Certificate Transparency is tested with', () => {
  const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
  const roots = [
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ]
  const found = roots.map((_, size) => rootOf(treeOf(leaves.slice(0, size).map(ofHex)), sha256))
  expect(found.map((root) => Buffer.from(root).toString('hex'))).toEqual(roots)
})

it('is the tree that the definition makes of all leaves at once, kept by one hash for each set bit of its size', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 70 }), (leaves) => {
      const tree = treeOf(leaves)
      expect(tree.size).toBe(leaves.length)
      expect(tree.subtrees).toHaveLength(leaves.length.toString(2).replaceAll('0', '').length)
      expect(Buffer.from(rootOf(tree, sha256))).toEqual(Buffer.from(definedRoot(leaves)))
    }),
  )
})

import { htmlDecodeTree } from 'entities/decode'

/** A named character reference: its name, with the semicolon if it has one, and the characters it stands for. */
export type NamedReference = { readonly name: string; readonly characters: string }

// One node of the tree of the package entities 8.1 (see its internal/bin-trie-flags):
//
//     15 14          13            12 …… 7   6 …… 0
//     value words    semicolon     branches  first character
//
// The value is in the node itself (1), or in one (2) or two (3) words behind it. A name whose semicolon is not required
// is one without semicolon as well. A node without value whose bit 13 is set stands for a run of characters.
const FLAG = 0x2000

/** All named character references of HTML, from the tree by which the package entities decodes. */
export function namedReferences(): NamedReference[] {
  const references: NamedReference[] = []
  collect(0, '', references)
  return references
}

function collect(node: number, name: string, references: NamedReference[]): void {
  const header = wordAt(node)
  const valueWords = header >> 14
  const branches = (header >> 7) & 0x3f
  const first = header & 0x7f
  if (valueWords === 0 && (header & FLAG) !== 0) {
    collect(node + 1 + (branches >> 1), name + runOf(node, branches), references)
    return
  }
  if (valueWords > 0) {
    const characters =
      valueWords === 1
        ? String.fromCharCode(header & 0x1fff)
        : String.fromCharCode(...htmlDecodeTree.subarray(node + 1, node + valueWords))
    references.push({ name: `${name};`, characters })
    if ((header & FLAG) === 0) references.push({ name, characters })
    // The other bits of such a node are the value.
    if (valueWords === 1) return
  }
  const table = node + (valueWords || 1)
  if (first !== 0 && branches === 0) {
    collect(table, name + String.fromCharCode(first), references)
  } else if (first !== 0) {
    for (let slot = 0; slot < branches; slot++) {
      const offset = wordAt(table + slot)
      if (offset === 0) continue
      collect((table + branches + offset - 1) & 0xffff, name + String.fromCharCode(first + slot), references)
    }
  } else {
    const keyWords = (branches + 1) >> 1
    for (let branch = 0; branch < branches; branch++) {
      const key = (wordAt(table + (branch >> 1)) >> ((branch & 1) << 3)) & 0xff
      const offset = wordAt(table + keyWords + branch)
      collect((table + keyWords + branches + offset) & 0xffff, name + String.fromCharCode(key), references)
    }
  }
}

/** The first character stands in the node, the others two a word behind it. */
function runOf(node: number, length: number): string {
  let run = String.fromCharCode(wordAt(node) & 0x7f)
  for (let i = 0; i < length - 1; i++) {
    run += String.fromCharCode((wordAt(node + 1 + (i >> 1)) >> ((i & 1) << 3)) & 0xff)
  }
  return run
}

function wordAt(index: number): number {
  return htmlDecodeTree[index] as number
}

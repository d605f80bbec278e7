/** Connected components by union-find: nearly linear in the number of unions, 4 bytes a node. */
export class Components {
  readonly #parent: Uint32Array

  constructor(count: number) {
    this.#parent = Uint32Array.from({ length: count }, (_, node) => node)
  }

  /** The node that stands for the component of a node: the least one of the component. */
  rootOf(node: number): number {
    const parent = this.#parent
    let at = node
    for (let up = parent[at] as number; up !== at; up = parent[at] as number) {
      parent[at] = parent[up] as number
      at = up
    }
    return at
  }

  unite(a: number, b: number): void {
    const rootA = this.rootOf(a)
    const rootB = this.rootOf(b)
    if (rootA < rootB) this.#parent[rootB] = rootA
    else this.#parent[rootA] = rootB
  }
}

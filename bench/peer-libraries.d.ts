declare module 'minhash' {
  export const Minhash: new (options: { readonly numPerm: number }) => { update(text: string): void }
}

declare module 'simhash-js' {
  export const SimHash: new () => { hash(text: string): number }
}

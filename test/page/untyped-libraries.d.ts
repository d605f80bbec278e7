declare module 'html-encoding-sniffer' {
  /** Name of the encoding that byte order mark or `<meta>` declare, else `defaultEncoding` as it was given. */
  export default function sniffEncoding(
    bytes: Uint8Array,
    options: { readonly defaultEncoding: string },
  ): string
}

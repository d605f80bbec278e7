import { getBOMEncoding, labelToName, legacyHookDecode } from '@exodus/bytes/encoding.js'
import sniffEncoding from 'html-encoding-sniffer'
import { MIMEType } from 'whatwg-mimetype'

/** How many bytes the standard looks at before it parses. */
const SNIFFED_BYTES = 1024

/** How far a later `<meta>` is looked for; real heads end long before. */
const MAX_HEAD_BYTES = 65_536

/**
 * The characters of a document, decoded as browsers do it (WHATWG Encoding and HTML standards): by byte order mark,
 * else the charset of the Content-Type, else (HTML only) a `<meta>` in the first 1,024 bytes, else UTF-8 where the
 * bytes are valid UTF-8, else (HTML only) a `<meta>` further down, else windows-1252. Unknown labels and a malformed
 * Content-Type are passed over. The byte order mark is no part of the result; each invalid sequence becomes U+FFFD.
 * Never throws, and leaves `bytes` as they are.
 */
export function decodeBytes(bytes: Uint8Array, contentType: string | null, kind: 'html' | 'text'): string {
  const declared = declaredEncoding(bytes, contentType, kind)
  if (declared !== null) return decode(bytes, declared)
  return (
    decodeUtf8Strictly(bytes) ?? decode(bytes, (kind === 'html' ? lateMeta(bytes) : null) ?? 'windows-1252')
  )
}

/** The encoding that byte order mark, Content-Type or an early `<meta>` name; null where the bytes have to tell. */
export function declaredEncoding(
  bytes: Uint8Array,
  contentType: string | null,
  kind: 'html' | 'text',
): string | null {
  return (
    encodingOfMark(bytes) ??
    encodingOfTransport(contentType) ??
    (kind === 'html' ? encodingOfMeta(bytes) : null)
  )
}

function encodingOfMark(bytes: Uint8Array): string | null {
  const mark = getBOMEncoding(bytes)
  return mark === null ? null : labelToName(mark)
}

function encodingOfTransport(contentType: string | null): string | null {
  const label = contentType === null ? undefined : MIMEType.parse(contentType)?.parameters.get('charset')
  return label === undefined ? null : labelToName(label)
}

/**
 * What a `<meta>` in the first 1,024 bytes declares.
 *
 * html-encoding-sniffer 6 throws a TypeError where a content attribute ends after "charset" or "charset=". Every
 * declaration before it has then been passed over, so the sniffer is asked again with the first "charset" spelled
 * wrong, until it gets past that attribute.
 */
function encodingOfMeta(bytes: Uint8Array): string | null {
  const head = Uint8Array.from(bytes.subarray(0, SNIFFED_BYTES))
  for (;;) {
    try {
      // The default comes back unchanged, so "nothing declared" can be told from windows-1252.
      const encoding = sniffEncoding(head, { defaultEncoding: '' })
      return encoding === '' ? null : encoding
    } catch (error) {
      const at = decode(head, 'windows-1252').toLowerCase().indexOf('charset')
      if (at < 0) throw error
      head[at] = 0x5f
    }
  }
}

/** A parser that meets a `<meta>` behind the sniffed bytes changes to its encoding (WHATWG "change the encoding"). */
function lateMeta(bytes: Uint8Array): string | null {
  const head = decode(bytes.subarray(0, MAX_HEAD_BYTES), 'windows-1252').toLowerCase()
  for (let at = head.indexOf('<meta'); at >= 0; at = head.indexOf('<meta', at + 1)) {
    const encoding = encodingOfMeta(bytes.subarray(at))
    if (encoding !== null) return encoding
  }
  return null
}

function decode(bytes: Uint8Array, encoding: string): string {
  // Node's own decoder is fast and right for UTF-8 alone: it maps the bytes 0x80 to 0x9F of windows-1252 to control
  // characters, errs in Big5, and lacks some encodings.
  return encoding === 'UTF-8' ? new TextDecoder().decode(bytes) : legacyHookDecode(bytes, encoding)
}

/** Null where the bytes are not valid UTF-8. */
function decodeUtf8Strictly(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}

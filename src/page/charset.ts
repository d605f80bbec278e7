import { getBOMEncoding, labelToName, legacyHookDecode } from '@exodus/bytes/encoding.js'
import { MIMEType } from 'whatwg-mimetype'
import { encodingOfMeta } from './meta-charset.ts'

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
  const text = decodeUtf8Strictly(bytes)
  if (text !== null) return text
  // A parser that meets a `<meta>` behind the sniffed bytes changes to its encoding (WHATWG "change the encoding").
  const late = kind === 'html' ? encodingOfMeta(bytes.subarray(0, MAX_HEAD_BYTES)) : null
  return decode(bytes, late ?? 'windows-1252')
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
    (kind === 'html' ? encodingOfMeta(bytes.subarray(0, SNIFFED_BYTES)) : null)
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

/*
 * The term of an image where its address is so plain that the URL standard leaves it as it is; every other address goes
 * to src/page/image.ts, which this equals.
 */
import { AMPERSAND, FULL_STOP, NUMBER_SIGN, PERCENT, QUESTION_MARK, SLASH, isAsciiLetter, isWhiteSpace } from './bytes'
import { ADDRESS, HOST, MAX_ADDRESS, URL_CLASSES } from './layout'
import { readReference, referenceEnd, referenceFirst, referenceSecond } from './references'

/** Asks the caller for the page's host and base; he calls `setImageContext`. */
declare function openImageContext(): void
/** The term of any address, written to `to`; its length, 0 for no term. */
declare function resolveImage(at: usize, length: usize, to: usize): i32
/** Takes in a base address; the caller calls `setImageContext`. */
declare function resolveBase(at: usize, length: usize): void

const MAX_TERM: usize = 1024

const IN_HOST: u32 = 1
const IN_PATH: u32 = 2
const IN_QUERY: u32 = 4

/** No fast answer. */
const UNSURE: i32 = -1

const HTTP: u64 = 0x2f2f3a70747468 // "http://"
const HTTPS: u64 = 0x2f2f3a7370747468 // "https://"
const SEVEN_BYTES: u64 = 0xffffffffffffff

let contextOpen = false
let hostLength: usize = 0
let baseIsHttp = false
let baseIsOwn = false

/** Where the term of the last image begins. */
export let imageTermAt: usize = 0

export function initializeImages(): void {
  allow(IN_HOST, 'abcdefghijklmnopqrstuvwxyz0123456789.-')
  allow(IN_PATH | IN_QUERY, 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~!$&()*+,;=@/%')
  allow(IN_QUERY, ':?')
}

function allow(place: u32, characters: string): void {
  for (let i = 0; i < characters.length; i++) {
    const at = URL_CLASSES + characters.charCodeAt(i)
    store<u8>(at, load<u8>(at) | place)
  }
}

export function beginImages(): void {
  contextOpen = false
}

/**
 * The page's own host stands in HOST. `http`: the base has the scheme http or https. `own`: and the page's own host,
 * so that relative addresses are its own. A `length` of 0 leaves all addresses to the caller.
 */
export function setImageContext(length: usize, http: bool, own: bool): void {
  hostLength = length
  baseIsHttp = http
  baseIsOwn = own
}

export function readBase(at: usize, end: usize): void {
  openContext()
  resolveBase(at, end - at)
}

/** Length of the term of the image whose address is [at, end), as it is written; 0 for none. */
export function readImage(at: usize, end: usize, scratch: usize): usize {
  openContext()
  const length = plainTerm(at, end)
  if (length >= 0) return length
  imageTermAt = scratch
  return resolveImage(at, end - at, scratch)
}

function openContext(): void {
  if (contextOpen) return
  contextOpen = true
  openImageContext()
}

/** The term by the bytes alone, from `imageTermAt`; its length, 0 for none, or UNSURE. */
function plainTerm(at: usize, end: usize): i32 {
  if (hostLength == 0 || end - at > MAX_ADDRESS) return UNSURE
  let length = decodeAddress(at, end)
  if (length < 0) return UNSURE
  at = ADDRESS
  end = ADDRESS + length
  // A text without end mark: what follows must not look like more of the address.
  store<u64>(end, 0)
  if (isBlank(at, end)) return 0
  const start = load<u64>(at)
  if (start == HTTPS) return absoluteTerm(at, at + 8, end)
  if ((start & SEVEN_BYTES) == HTTP) return absoluteTerm(at, at + 7, end)
  return baseIsOwn ? relativeTerm(at, end) : UNSURE
}

/** Copies the address with its references decoded; returns the length, or UNSURE where it is not all ASCII. */
function decodeAddress(at: usize, end: usize): i32 {
  let to = ADDRESS
  while (at < end) {
    const byte: u32 = load<u8>(at)
    if (byte == 0 || byte >= 0x80) return UNSURE
    if (byte == AMPERSAND && readReference(at, true)) {
      if (referenceFirst >= 0x80 || referenceSecond != 0) return UNSURE
      store<u8>(to++, referenceFirst)
      at = referenceEnd
    } else {
      store<u8>(to++, byte)
      at++
    }
  }
  return <i32>(to - ADDRESS)
}

function isBlank(at: usize, end: usize): bool {
  while (at < end && isWhiteSpace(load<u8>(at))) at++
  return at == end
}

/** A path on the page's own host: only the last segment counts. */
function relativeTerm(at: usize, end: usize): i32 {
  if (load<u8>(at) == SLASH && load<u8>(at, 1) == SLASH) return UNSURE
  const pathEnd = passClass(at, IN_PATH)
  if (pathEnd == at || (pathEnd < end && !endsPath(load<u8>(pathEnd)))) return UNSURE
  return fileName(at, pathEnd)
}

/** An http(s) address whose host begins at `host`: the file name on the page's own host, else the whole of it. */
function absoluteTerm(at: usize, host: usize, end: usize): i32 {
  const hostEnd = passClass(host, IN_HOST)
  if (load<u8>(hostEnd) != SLASH || !isPlainHost(host, hostEnd)) return UNSURE
  const pathEnd = passClass(hostEnd, IN_PATH)
  if (pathEnd < end && !endsPath(load<u8>(pathEnd))) return UNSURE
  if (!isPlainPath(hostEnd, pathEnd)) return UNSURE
  if (hostEnd - host == hostLength && memory.compare(host, HOST, hostLength) == 0) return fileName(hostEnd, pathEnd)
  let termEnd = pathEnd
  if (load<u8>(pathEnd) == QUESTION_MARK) {
    termEnd = passClass(pathEnd + 1, IN_QUERY)
    if (termEnd == pathEnd + 1 || (termEnd < end && load<u8>(termEnd) != NUMBER_SIGN)) return UNSURE
  }
  if (termEnd - at > MAX_TERM) return UNSURE
  imageTermAt = at
  return <i32>(termEnd - at)
}

/** The last segment of a path, unless it is one of "." and "..", which may be written with "%2e". */
function fileName(at: usize, end: usize): i32 {
  let start = end
  while (start > at && load<u8>(start - 1) != SLASH) start--
  if (start < end && load<u8>(start) == FULL_STOP) return UNSURE
  if (start < end && load<u8>(start) == PERCENT) return UNSURE
  if (end - start > MAX_TERM) return UNSURE
  imageTermAt = start
  return <i32>(end - start)
}

/** No segment may begin like "." or "..". */
function isPlainPath(at: usize, end: usize): bool {
  for (; at < end; at++) {
    if (load<u8>(at) != SLASH) continue
    const next = load<u8>(at, 1)
    if (next == FULL_STOP || next == PERCENT) return false
  }
  return true
}

/** Labels of letters, digits and hyphens, the last one beginning with a letter, none an A-label. */
function isPlainHost(at: usize, end: usize): bool {
  let labelStart = at
  for (let i = at; i < end; i++) {
    if (load<u8>(i) == FULL_STOP) {
      if (i == labelStart) return false
      labelStart = i + 1
    } else if (i == labelStart && load<u32>(i) == 0x2d2d6e78) {
      return false // "xn--"
    }
  }
  return labelStart < end && isAsciiLetter(load<u8>(labelStart))
}

function passClass(at: usize, place: u32): usize {
  while ((load<u8>(URL_CLASSES + load<u8>(at)) & place) != 0) at++
  return at
}

@inline
function endsPath(byte: u32): bool {
  return byte == QUESTION_MARK || byte == NUMBER_SIGN
}

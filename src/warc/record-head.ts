import { type Scanner, startsLikeWarc } from './scanner.ts'

/** Values by name in lower case; of a name that comes several times, all of them in order. */
export type Headers = ReadonlyMap<string, readonly string[]>

/** What stands before the block of a record. */
export type RecordHead = {
  /** WARC-Type in lower case. */
  readonly type: string
  readonly headers: Headers
  /** Bytes of the block. */
  readonly length: number
}

/** A head, or why there is none. */
export type HeadResult = { readonly head: RecordHead } | { readonly detail: string }

const mostHeadBytes = 256 * 1024

/** The first value of a header, or null. */
export const firstValue = (headers: Headers, name: string): string | null => headers.get(name)?.[0] ?? null

/** Header lines `Name: value`; a line that begins with white space goes on with the one before. */
export const parseHeaders = (lines: readonly string[]): Headers => {
  const unfolded: string[] = []
  for (const line of lines) {
    const isContinued = /^[ \t]/.test(line) && unfolded.length > 0
    if (isContinued) unfolded.push(`${unfolded.pop()} ${line.trim()}`)
    else unfolded.push(line)
  }
  const headers = new Map<string, string[]>()
  for (const line of unfolded) {
    const colon = line.indexOf(':')
    if (colon === -1) continue
    const name = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    const values = headers.get(name)
    if (values === undefined) headers.set(name, [value])
    else values.push(value)
  }
  return headers
}

const wholeNumber = (text: string | null): number | null => {
  const number = text !== null && /^\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(number) ? number : null
}

const isoDate = (digits: string): string =>
  digits.replace(/^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)$/, '$1-$2-$3T$4:$5:$6Z')

/**
 * The head that a line of an ARC file is (version 1: URL, address, date, media type, length; version 2: five
 * fields more), in the words of WARC; null for any other line. A URL may hold spaces.
 */
const parseArcLine = (line: string): RecordHead | null => {
  const fields = line.split(' ')
  const isFirstVersion = /^\d{14}$/.test(fields.at(-3) ?? '')
  const behindUrl = isFirstVersion ? 4 : 9
  const url = fields.slice(0, -behindUrl).join(' ')
  const [, date = '', mediaType = ''] = fields.slice(-behindUrl)
  const length = wholeNumber(fields.at(-1) ?? null)
  if (!/^[a-z][a-z0-9+.-]*:/i.test(url) || !/^\d{14}$/.test(date) || length === null) return null
  const isFile = /^filedesc:/i.test(url)
  const isHttp = /^https?:/i.test(url)
  return {
    type: isFile ? 'warcinfo' : 'response',
    headers: new Map([
      ['warc-target-uri', [url]],
      ['warc-date', [isoDate(date)]],
      ['content-type', [isHttp ? 'application/http' : mediaType]],
    ]),
    length,
  }
}

const readWarcHead = async (scanner: Scanner): Promise<HeadResult> => {
  const lines: string[] = []
  for (let left = mostHeadBytes; ; ) {
    const line = await scanner.readLine(left)
    if (line === null)
      return {
        detail: scanner.hasStopped
          ? 'The file is truncated: it ends within the head of a record'
          : `The head of a record has more than ${mostHeadBytes} bytes`,
      }
    if (line.length === 0) break
    left -= line.length + 1
    lines.push(line.toString('utf8'))
  }
  const version = lines.shift() ?? ''
  if (!/^WARC\/\d+\.\d+\s*$/.test(version)) return { detail: 'A record begins with no version of WARC' }
  const headers = parseHeaders(lines)
  const length = wholeNumber(firstValue(headers, 'content-length'))
  if (length === null) return { detail: 'A record has no Content-Length that is a whole number' }
  return { head: { type: (firstValue(headers, 'warc-type') ?? '').toLowerCase(), headers, length } }
}

const mostArcLineBytes = 32 * 1024
const warcMark = 'WARC/'

const peekArcHead = async (scanner: Scanner): Promise<RecordHead | null> => {
  const line = await scanner.peekLine(mostArcLineBytes)
  return line === null ? null : parseArcLine(line.toString('utf8'))
}

/** Whether another record begins here, or what is left of the file may be the start of its first line. Takes nothing. */
export const isBeforeRecord = async (scanner: Scanner): Promise<boolean> => {
  const bytes = await scanner.peek(warcMark.length)
  if (startsLikeWarc(bytes) || (await peekArcHead(scanner)) !== null) return true
  const rest = await scanner.peek(1)
  if (!scanner.hasStopped || rest.includes('\n')) return false
  return warcMark.startsWith(rest.toString('latin1')) || /^(?:https?|dns|ftp):/.test(rest.toString('latin1'))
}

/** Reads the head of the record that begins here. */
export const readHead = async (scanner: Scanner): Promise<HeadResult> => {
  if (startsLikeWarc(await scanner.peek(warcMark.length))) return readWarcHead(scanner)
  const head = await peekArcHead(scanner)
  if (head === null) return { detail: 'No record of WARC or ARC begins here' }
  await scanner.readLine(mostArcLineBytes)
  return { head }
}

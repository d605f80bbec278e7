import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { kindOfBytes } from '../../src/ingest/input.ts'
import { arcFile, inMembers, madePage, responseRecord, urlOf } from '../warc/archive.ts'

describe('the first bytes of a file', () => {
  test('tell what it is, compressed or not', () => {
    const record = responseRecord(urlOf(0), madePage(0, 3000))
    expect(kindOfBytes(record)).toBe('archive')
    expect(kindOfBytes(inMembers([record]))).toBe('archive')
    expect(kindOfBytes(arcFile())).toBe('archive')
    expect(kindOfBytes(gzipSync(arcFile()))).toBe('archive')
    expect(kindOfBytes(Buffer.from('\ufeff \n{"id":"a"}'))).toBe('ndjson')
    expect(kindOfBytes(gzipSync('{"id":"a"}'))).toBe('ndjson')
    expect(kindOfBytes(Buffer.from('\ufeff\r\n<!doctype html>'))).toBe('page')
  })

  test('tell of nothing else', () => {
    const damaged = Buffer.from([0x1f, 0x8b, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    const others = [Buffer.alloc(0), Buffer.from('text'), Buffer.from('[1]'), damaged, gzipSync('<p>a page')]
    for (const bytes of others) expect(kindOfBytes(bytes)).toBe(null)
  })
})

import { expect, test } from 'vitest'
import { Display, reportOf } from '../../src/ingest/display.ts'
import type { InputState } from '../../src/ingest/progress.ts'

/** Something to write to that remembers it. */
const stream = (isTTY: boolean) => {
  const written: string[] = []
  const out = { isTTY, columns: 70, write: (text: string) => written.push(text) }
  return { out: out as unknown as NodeJS.WriteStream, written }
}

const state = (changes: Partial<InputState> = {}): InputState => ({
  sizeBytes: 1,
  modifiedMs: 1,
  done: 2,
  counts: { created: 1, replaced: 0, unchanged: 0, failed: 1 },
  rest: { skipped: { request: 3 }, damaged: [{ offset: 7, detail: 'Gone' }] },
  ...changes,
})

test('a terminal gets a bar that is drawn over again, ten times a second at most', () => {
  const { out, written } = stream(true)
  const display = new Display(out, 200, 1000)
  for (const now of [2000, 2050, 2100])
    display.update('a.warc', { doneBytes: 50, documents: 300, failed: 0 }, now)
  expect(written).toHaveLength(2)
  expect(written[0]).toMatch(/^\r\[######\.{18}\] 25 % {2}300 documents, 300\/s, 0 failed/)
  expect(written.every((text) => text.length <= 1 + 69 + 3)).toBe(true)
})

test('what is no terminal gets whole lines only', () => {
  const { out, written } = stream(false)
  const display = new Display(out, null, 0)
  display.update('a.warc', { doneBytes: 50, documents: 3, failed: 0 }, 5000)
  display.finishInput('a.warc', state())
  expect(written).toEqual(['a.warc: 2 documents, 3 records skipped, 1 places damaged\n'])
})

test('the report adds the inputs up, and lists what is damaged', () => {
  const report = reportOf(
    [
      ['a.warc', state()],
      ['b.warc', state({ rest: { skipped: { request: 1, empty: 10 }, damaged: [] } })],
    ],
    2,
  )
  expect(report.split('\n')).toEqual([
    'stored (new)                    2',
    'replaced                        0',
    'unchanged                       0',
    'failed                          2',
    'skipped: empty                 10',
    'skipped: request                4',
    'skipped: files of other kinds   2',
    'damaged                         1',
    '  a.warc, byte 7: Gone',
    '',
  ])
})

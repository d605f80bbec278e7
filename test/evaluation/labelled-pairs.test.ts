import { describe, expect, test } from 'vitest'
import { readLabelledPairs } from '../../src/evaluation/labelled-pairs.ts'

const read = (...texts: string[]) =>
  readLabelledPairs(texts.map((text, i) => ({ name: `file${i + 1}.tsv`, text })))

describe('labelled pairs', () => {
  test('are read by the names of the columns, in whatever order these are', () => {
    expect(read('label\tb\ta\tother\treason\tstratum\ncorrect\ty\tx\t?\tcopy\tmirror+random\n')).toEqual([
      { a: 'x', b: 'y', label: 'correct', reason: 'copy', strata: ['mirror', 'random'] },
    ])
    expect(read('a\tb\tlabel\r\nx\ty\tundecided\r\n')).toEqual([
      { a: 'x', b: 'y', label: 'undecided', reason: null, strata: [] },
    ])
  })

  test('are one pair where two files have it, either way round, with the strata of both', () => {
    const pairs = read(
      'a\tb\tlabel\tstratum\nx\ty\tincorrect\trandom\n',
      'a\tb\tlabel\tstratum\ny\tx\tincorrect\tall\nx\tz\tcorrect\tall\n',
    )
    expect(pairs.map(({ a, b, strata }) => [a, b, strata])).toEqual([
      ['y', 'x', ['random', 'all']],
      ['x', 'z', ['all']],
    ])
  })

  test.each([
    ['a\tb\n', /file1.tsv, line 1: .*no column "label"/],
    ['a\tb\tlabel\nx\ty\tmaybe\n', /file1.tsv, line 2: label must be one of correct, incorrect, undecided/],
    ['a\tb\tlabel\n\nx\tx\tcorrect\n', /file1.tsv, line 3: a and b must be the ids of two different pages/],
    ['a\tb\tlabel\nx\t\tcorrect\n', /line 2: a and b/],
    ['a\tb\tlabel\nx\ty\tcorrect\ny\tx\tincorrect\n', /line 3: this pair has been labelled correct before/],
  ])('%j is refused with its line and what is allowed', (text, message) => {
    expect(() => read(text)).toThrow(message)
  })
})

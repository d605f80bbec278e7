import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { loadConfig, settings, sqlitePathOf } from '../src/config.ts'

describe('configuration', () => {
  test('an empty environment gives the documented defaults', () => {
    expect(loadConfig({})).toMatchObject({
      HOST: '127.0.0.1',
      PORT: 8080,
      DATABASE_URL: 'sqlite:./data/dittograph.db',
      BODY_LIMIT_BYTES: 16_777_216,
      TOKENIZER: 'practical',
      SITE_RULE: 'public-suffix',
      KEEP_TEXT: true,
      API_KEYS_FILE: null,
    })
  })

  test.each([
    ['PORT', '80.5'],
    ['PORT', '70000'],
    ['PORT', '1e3'],
    ['BODY_LIMIT_BYTES', '0'],
    ['KEEP_TEXT', 'yes'],
    ['TOKENIZER', 'Literal'],
    ['SITE_RULE', 'host'],
    ['SYNCHRONOUS', 'off'],
  ])('%s=%s is refused with the setting and what is allowed', (name, text) => {
    expect(() => loadConfig({ [name]: text })).toThrow(new RegExp(`^${name} must be .+, not "${text}"$`))
  })

  test('DATABASE_URL names a path, absolute or relative, or memory; other databases are refused', () => {
    expect(sqlitePathOf('sqlite:./data/a.db')).toBe('./data/a.db')
    expect(sqlitePathOf('sqlite:/var/lib/a.db')).toBe('/var/lib/a.db')
    expect(sqlitePathOf('sqlite:///var/lib/a.db')).toBe('/var/lib/a.db')
    expect(sqlitePathOf('sqlite::memory:')).toBe(':memory:')
    for (const url of ['postgres://localhost/a', 'a.db', 'sqlite:'])
      expect(() => sqlitePathOf(url)).toThrow(/DATABASE_URL must be sqlite:PATH/)
  })

  test('the README lists every setting with its default', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
    for (const [name, setting] of Object.entries(settings)) {
      const shown = setting.default === null ? 'unset' : `\`${setting.default}\``
      expect(readme).toContain(`| \`${name}\` | ${shown} |`)
    }
  })
})

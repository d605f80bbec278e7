import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { kernelModule } from '../../tools/kernel.ts'

test('the checked-in kernel is what its sources compile to', { timeout: 240_000 }, async () => {
  const checkedIn = readFileSync(new URL('../../src/kernel/kernel-binary.ts', import.meta.url), 'utf8')
  expect(await kernelModule()).toBe(checkedIn)
})

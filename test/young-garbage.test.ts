import { PerformanceObserver } from 'node:perf_hooks'
import { expect, test } from 'vitest'
import { noteYoungGarbage } from '../src/young-garbage.ts'

test('Buffers that are gone are collected before there are many of them', async () => {
  const kinds: unknown[] = []
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) kinds.push(Reflect.get(Reflect.get(entry, 'detail'), 'kind'))
  })
  observer.observe({ entryTypes: ['gc'] })
  for (let made = 0; made < 16; made++) noteYoungGarbage(1024 * 1024)
  await new Promise((resolve) => setTimeout(resolve, 50))
  observer.disconnect()
  const minor = 1
  expect(kinds).toContain(minor)
})

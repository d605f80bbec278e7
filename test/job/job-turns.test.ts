import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { openServices } from '../../src/compose.ts'
import { loadConfig } from '../../src/config.ts'
import { JobTurns } from '../../src/job/job-turns.ts'
import { joinRequest } from '../fixture/jobs.ts'
import { storeAll, textInput } from '../fixture/services.ts'
import { inTemporaryDirectory } from '../store/sqlite/temporary.ts'

describe('the turn of jobs', () => {
  test('is one job’s at a time; those who found it taken are called once each, in their order', () => {
    const turns = new JobTurns()
    const called: string[] = []
    const waiter = (name: string) => () => {
      called.push(name)
      turns.take(() => undefined)
    }
    const [a, b] = [waiter('a'), waiter('b')]
    expect(turns.take(a)).toBe(true)
    expect([turns.take(a), turns.take(b), turns.take(a)]).toEqual([false, false, false])
    expect(called).toEqual([])
    turns.giveBack()
    expect(called).toEqual(['a', 'b'])
    expect(turns.take(a)).toBe(false)
  })

  test(
    'goes from collection to collection: jobs of two never run at once, and all come to an end',
    () =>
      inTemporaryDirectory(async (directory) => {
        const turns = new JobTurns()
        const open = (name: string) =>
          openServices(loadConfig({ DATABASE_URL: `sqlite:${join(directory, name)}` }), { turns })
        const collections = [await open('a.db'), await open('b.db')]
        for (const running of collections) {
          await storeAll(running, [textInput('x', 'some words'), textInput('y', 'some words')])
          expect(running.isIdle()).toBe(true)
        }
        for (const minResemblance of [0.1, 0.2, 0.3])
          for (const running of collections) {
            await running.services.jobs.create(joinRequest({ minResemblance }))
            expect(running.isIdle()).toBe(false)
          }
        for (;;) {
          const lists = collections.map(({ services }) => services.jobs.list({ limit: 10, cursor: null }))
          const states = (await Promise.all(lists)).flatMap(({ jobs }) => jobs.map(({ state }) => state))
          expect(states.filter((state) => state === 'running').length).toBeLessThanOrEqual(1)
          if (states.every((state) => state === 'succeeded')) break
          expect(states).not.toContain('failed')
          await setTimeout(5)
        }
        for (const running of collections) {
          expect(running.isIdle()).toBe(true)
          await running.close()
        }
      }),
    30_000,
  )

  test(
    'is given back by a job that is cancelled and by services that are closed',
    () =>
      inTemporaryDirectory(async (directory) => {
        const turns = new JobTurns()
        const open = (name: string) =>
          openServices(loadConfig({ DATABASE_URL: `sqlite:${join(directory, name)}` }), { turns })
        const [a, b] = [await open('a.db'), await open('b.db')]
        const start = async ({ services }: typeof a) => (await services.jobs.create(joinRequest())).job
        const [ofA, ofB] = [await start(a), await start(b)]
        expect([ofA.state, ofB.state]).toEqual(['running', 'queued'])
        await a.services.jobs.delete(ofA.id)
        while ((await b.services.jobs.get(ofB.id)).state !== 'succeeded') await setTimeout(5)
        const [again, waiting] = [await start(b), await start(a)]
        expect([again.state, waiting.state]).toEqual(['running', 'queued'])
        await b.close()
        while ((await a.services.jobs.get(waiting.id)).state !== 'succeeded') await setTimeout(5)
        await a.close()
      }),
    30_000,
  )
})

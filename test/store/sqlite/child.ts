/**
 * A process of its own for tests that kill it, lock it out or cut its disk: `child.ts <command> <path>`. Prints
 * one line for each thing that happened.
 */
import { execFileSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'
import { DittographError } from '../../../src/errors.ts'
import { reindexSqliteStore } from '../../../src/store/sqlite/reindex.ts'
import { openSqliteStore, type SqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { documentsInBatch, largeText, tinyRuns, writtenBatch } from './batch.ts'

const [command, path = ''] = process.argv.slice(2)
const say = (line: string): boolean => process.stdout.write(`${line}\n`)

/** Stores batch after batch, and says the number of each that was acknowledged. */
const writeForEver = async (from: number): Promise<never> => {
  const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
  say('open')
  for (let batch = from; ; batch++) {
    await store.write(writtenBatch(batch))
    say(String(batch))
  }
}

const writeLargeBatch = (store: SqliteStore, batch: number) => store.write(writtenBatch(batch, largeText))

/** Lets files grow again, waits until background work has done what it could not, and stores more. */
const goOn = async (store: SqliteStore, from: number): Promise<void> => {
  const isDone = () =>
    store.check().then(
      () => true,
      () => false,
    )
  while (await isDone()) await wait(1)
  execFileSync('prlimit', [`--pid=${process.pid}`, '--fsize=unlimited'])
  while (!(await isDone())) await wait(10)
  const end = from + 6
  for (let batch = from; batch < end; batch++) await writeLargeBatch(store, batch)
  say(String(end))
}

/** Stores until there is no room, then says what can still be done; then goes on where there is room. */
const writeUntilFull = async (): Promise<void> => {
  const store = await openSqliteStore({ path, scheme: 'test', ...tinyRuns })
  let batch = 0
  try {
    while (true) {
      await writeLargeBatch(store, batch)
      batch++
    }
  } catch (reason) {
    say(reason instanceof DittographError ? reason.code : String(reason))
  }
  say(String(batch))
  const { documents } = await store.counts()
  const listed = await store.list({ after: 0, limit: 1000 })
  say(documents === batch * documentsInBatch && listed.length === documents ? 'readable' : 'unreadable')
  await goOn(store, batch)
  await store.close()
}

/** Makes all postings again, and says after each part how many sets are done. */
const reindex = async (): Promise<void> => {
  await reindexSqliteStore({ path, scheme: 'test', ...tinyRuns, onProgress: (done) => say(String(done)) })
  say('reindexed')
}

const tryToOpen = async (): Promise<void> => {
  try {
    const store = await openSqliteStore({ path, scheme: 'test' })
    await store.close()
    say('open')
  } catch (reason) {
    say(reason instanceof DittographError ? reason.code : String(reason))
  }
}

if (command === 'write') await writeForEver(Number(process.argv[4]))
else if (command === 'fill') await writeUntilFull()
else if (command === 'reindex') await reindex()
else await tryToOpen()

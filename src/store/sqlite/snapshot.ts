import { rmSync } from 'node:fs'
import Database from 'better-sqlite3'
import { wordsInSketch } from '../../detect/sketch-join.ts'
import type { Snapshot, SnapshotDocument, SnapshotSource } from '../snapshot.ts'
import { documentSql, snapshotSql } from './sql.ts'

const setsAtOnce = 4096
const sketchBytes = 4 * wordsInSketch

/**
 * Copies what a job needs out of a database, in one short read transaction over a connection of its own: a reader that
 * stayed for all of the job would keep the write-ahead log from being reset. `scratchFile` takes ids and URLs; it is
 * removed by `close`. `report` learns how many of how many identity sets have been read.
 */
export const takeSnapshot = (
  databaseFile: string,
  scratchFile: string,
  report: (done: number, total: number) => void = () => undefined,
): SnapshotSource => {
  rmSync(scratchFile, { force: true })
  const scratch = new Database(scratchFile)
  scratch.pragma('journal_mode = MEMORY')
  scratch.pragma('synchronous = OFF')
  scratch.prepare('ATTACH ? AS source').run(databaseFile)
  const snapshot = scratch.transaction(() => copy(scratch, report))()
  scratch.exec('DETACH source')
  const database = new Database(databaseFile, { readonly: true, fileMustExist: true })
  const documentOf = scratch.prepare<[number], SnapshotDocument>(snapshotSql.document)
  const textOf = database.prepare<[number], Buffer>(documentSql.textByNumber).pluck()
  return {
    snapshot,
    document: (number) => {
      const document = documentOf.get(number)
      if (document === undefined) throw new Error(`The snapshot has no document of number ${number}`)
      return document
    },
    text: (number) => textOf.get(number) ?? null,
    close: () => {
      database.close()
      scratch.close()
      rmSync(scratchFile, { force: true })
    },
  }
}

const copy = (db: Database.Database, report: (done: number, total: number) => void): Snapshot => {
  const totals = db.prepare<[], { sets: number; documents: number }>(snapshotSql.counts).get()
  if (totals === undefined) throw new Error('Counting gave no row')
  const { numbers, ...sets } = readSets(db, totals.sets, report)
  db.exec(snapshotSql.copyDocuments)
  return { documents: totals.documents, ...sets, ...readMembers(db, numbers, totals.documents) }
}

type SetPage = { lastNumber: number | null; numbers: string; tokenCounts: string; sketches: Buffer }

const readSets = (db: Database.Database, count: number, report: (done: number, total: number) => void) => {
  const supershingles = new Uint32Array(count * wordsInSketch)
  const simhashes = new Uint32Array(count * wordsInSketch)
  const tokenCounts = new Uint32Array(count)
  const numbers = new Float64Array(count)
  const pageAfter = db.prepare<[number, number], SetPage>(snapshotSql.setsAfter)
  let place = 0
  for (let after = 0; ; ) {
    const page = pageAfter.get(after, setsAtOnce)
    if (page === undefined || page.lastNumber === null) break
    const bytes = new DataView(page.sketches.buffer, page.sketches.byteOffset, page.sketches.byteLength)
    const counts = page.tokenCounts.split(',')
    for (const [i, number] of page.numbers.split(',').entries()) {
      numbers[place] = Number(number)
      tokenCounts[place] = Number(counts[i])
      for (let word = 0; word < wordsInSketch; word++) {
        const at = 2 * sketchBytes * i + 4 * word
        supershingles[place * wordsInSketch + word] = bytes.getUint32(at)
        simhashes[place * wordsInSketch + word] = bytes.getUint32(at + sketchBytes)
      }
      place++
    }
    report(place, count)
    after = page.lastNumber
  }
  return { sketches: { count, supershingles, simhashes }, tokenCounts, numbers }
}

const readMembers = (db: Database.Database, setNumbers: Float64Array, documents: number) => {
  const setOf = new Uint32Array(documents)
  const siteOf = new Uint32Array(documents)
  const numberOf = new Float64Array(documents)
  const firstMember = new Uint32Array(setNumbers.length + 1)
  const sites = new Map<string, number>()
  let count = 0
  const rows = db.prepare<[], [number, number, string | null]>(snapshotSql.members).raw().iterate()
  for (const [number, setNumber, site] of rows) {
    const set = placeOf(setNumbers, setNumber)
    if (set === -1) continue // a set without tokens
    let siteNumber = site === null ? 0 : sites.get(site)
    if (siteNumber === undefined) {
      siteNumber = sites.size + 1
      sites.set(site as string, siteNumber)
    }
    setOf[count] = set
    siteOf[count] = siteNumber
    numberOf[count] = number
    firstMember[set + 1] = (firstMember[set + 1] as number) + 1
    count++
  }
  for (let set = 0; set < setNumbers.length; set++)
    firstMember[set + 1] = (firstMember[set + 1] as number) + (firstMember[set] as number)
  const order = orderBySet(setOf.subarray(0, count), firstMember)
  for (let set = 0; set < setNumbers.length; set++) {
    const members = order.subarray(firstMember[set], firstMember[set + 1])
    if (members.length > 1) members.sort((a, b) => (siteOf[a] as number) - (siteOf[b] as number) || a - b)
  }
  return {
    firstMember,
    memberSites: Uint32Array.from(order, (document) => siteOf[document] as number),
    memberNumbers: Float64Array.from(order, (document) => numberOf[document] as number),
  }
}

/** Documents in the order of their sets, those of a set as they came. */
const orderBySet = (setOf: Uint32Array, firstMember: Uint32Array): Uint32Array => {
  const order = new Uint32Array(setOf.length)
  const next = firstMember.slice()
  for (let document = 0; document < setOf.length; document++) {
    const set = setOf[document] as number
    const at = next[set] as number
    order[at] = document
    next[set] = at + 1
  }
  return order
}

/** Where a number stands among increasing ones; -1 where it does not. */
const placeOf = (numbers: Float64Array, number: number): number => {
  let low = 0
  let high = numbers.length - 1
  while (low <= high) {
    const middle = (low + high) >>> 1
    const found = numbers[middle] as number
    if (found === number) return middle
    if (found < number) low = middle + 1
    else high = middle - 1
  }
  return -1
}

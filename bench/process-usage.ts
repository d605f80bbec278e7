import { readFileSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'
import type { Server } from '../test/fixture/server.ts'

const clockTicksPerSecond = 100
const idleMs = 150

/** CPU time of this process so far, in microseconds. */
export const cpuMicroseconds = (): number => {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Seconds of CPU that a server has used so far, all threads together, to 10 ms. Linux only. */
export const cpuSeconds = (server: Server): number => {
  const stat = readFileSync(`/proc/${server.process.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / clockTicksPerSecond
}

/** The same when the server has nothing left to do: what it puts off until after its answers counts too. */
export const cpuSecondsWhenIdle = async (server: Server): Promise<number> => {
  let before = Number.NaN
  let now = cpuSeconds(server)
  while (now !== before) {
    await wait(idleMs)
    before = now
    now = cpuSeconds(server)
  }
  return now
}

/** Resident memory of a server now and at most so far. Linux only. */
export const residentMebibytesOf = (server: Server): { now: number; most: number } => {
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8')
  const kibibytes = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1])
  return { now: Math.round(kibibytes('VmRSS') / 1024), most: Math.round(kibibytes('VmHWM') / 1024) }
}

export const mebibytes = (bytes: number): number => Math.round(bytes / 2 ** 20)

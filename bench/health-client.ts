/**
 * health-client.ts URL SECONDS: the process of bench/mixed.ts that asks GET /health/live every other millisecond. A process of its own, so that what the other
 * clients have to do does not look like a stall of the server.
 */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as wait } from 'node:timers/promises'
import { Connection } from './connection.ts'

export type HealthResult = {
  readonly milliseconds: number[]
  /** The longest time between two answers. */
  readonly longestGapMs: number
  readonly longestOwnDelayMs: number
}

const [url = '', seconds] = process.argv.slice(2)
const connection = await Connection.open(url)
const ownDelay = monitorEventLoopDelay({ resolution: 1 })
ownDelay.enable()
const milliseconds: number[] = []
let longestGapMs = 0
const end = performance.now() + 1000 * Number(seconds)
let answered = performance.now()
while (answered < end) {
  // A pause, or this client alone would keep one core busy.
  await wait(1)
  const began = performance.now()
  await connection.send('GET', '/health/live')
  const ended = performance.now()
  milliseconds.push(ended - began)
  longestGapMs = Math.max(longestGapMs, ended - answered)
  answered = ended
}
connection.close()
const result: HealthResult = { milliseconds, longestGapMs, longestOwnDelayMs: ownDelay.max / 1e6 }
process.stdout.write(JSON.stringify(result))

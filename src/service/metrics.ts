import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Store } from '../store/store.ts'
import type { Operations } from './service.ts'
import type { Stage, StageTimer } from './stage-timer.ts'

const secondsBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Prometheus metrics. Labels are bounded: route templates (never paths), methods, status codes and the names
 * of stages.
 */
export class Metrics implements StageTimer {
  readonly #registry = new Registry()
  readonly #requests: Histogram
  readonly #stages: Histogram
  readonly #incomplete: Counter

  constructor(store: Store) {
    const registers = [this.#registry]
    collectDefaultMetrics({ register: this.#registry })
    this.#requests = new Histogram({
      name: 'dittograph_request_seconds',
      help: 'Time from the head of a request to the end of its answer',
      labelNames: ['route', 'method', 'status'],
      buckets: secondsBuckets,
      registers,
    })
    this.#stages = new Histogram({
      name: 'dittograph_stage_seconds',
      help: 'Time spent in one stage: analyze a page, commit a group, probe, verify, resemblance of a pair',
      labelNames: ['stage'],
      buckets: [0.00001, 0.0001, ...secondsBuckets],
      registers,
    })
    this.#incomplete = new Counter({
      name: 'dittograph_incomplete_answers_total',
      help: 'Answers that met their work bound before they were complete',
      registers,
    })
    const counted = [
      ['documents', 'dittograph_documents', 'Documents stored'],
      ['sets', 'dittograph_identity_sets', 'Identity sets: documents with different token sequences'],
      ['postings', 'dittograph_postings', 'Supershingle and band postings'],
    ] as const
    for (const [key, name, help] of counted) {
      const collect = async function (this: Gauge): Promise<void> {
        this.set((await store.counts())[key])
      }
      new Gauge({ name, help, registers, collect })
    }
  }

  observe(stage: Stage, seconds: number): void {
    this.#stages.observe({ stage }, seconds)
  }

  countIncomplete(): void {
    this.#incomplete.inc()
  }

  forOperations(): Operations['metrics'] {
    return {
      render: async () => ({ contentType: this.#registry.contentType, body: await this.#registry.metrics() }),
      observeRequest: (route, method, status, seconds) =>
        this.#requests.observe({ route, method, status }, seconds),
    }
  }
}

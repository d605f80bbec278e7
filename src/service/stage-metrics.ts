import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Store } from '../store/store.ts'
import type { Stage, StageTimer } from './stage-timer.ts'

/** Metrics of what is stored and of the stages of work, for Prometheus. The names of the stages are the only labels. */
export class StageMetrics implements StageTimer {
  readonly #registry = new Registry()
  readonly #stages: Histogram
  readonly #incomplete: Counter

  constructor(store: Store) {
    const registers = [this.#registry]
    this.#stages = new Histogram({
      name: 'dittograph_stage_seconds',
      help: 'Time spent in one stage: analyze a page, commit a group, probe, verify, resemblance of a pair',
      labelNames: ['stage'],
      buckets: [0.00001, 0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
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

  /** In the text format of Prometheus. */
  render(): Promise<string> {
    return this.#registry.metrics()
  }
}

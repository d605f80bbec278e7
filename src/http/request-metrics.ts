import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

/**
 * Metrics of requests, and where wanted of the process. Labels are bounded: route templates (never paths), methods and
 * status codes.
 */
export class RequestMetrics {
  readonly contentType: string
  readonly #registry = new Registry()
  readonly #requests: Histogram

  constructor({ ofProcess }: { readonly ofProcess: boolean }) {
    this.contentType = this.#registry.contentType
    if (ofProcess) collectDefaultMetrics({ register: this.#registry })
    this.#requests = new Histogram({
      name: 'dittograph_request_seconds',
      help: 'Time from the head of a request to the end of its answer',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [this.#registry],
    })
  }

  observe(route: string, method: string, status: number, seconds: number): void {
    this.#requests.observe({ route, method, status }, seconds)
  }

  /** In the text format of Prometheus. */
  render(): Promise<string> {
    return this.#registry.metrics()
  }
}

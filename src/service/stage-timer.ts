export type Stage = 'analyze' | 'commit' | 'probe' | 'verify' | 'resemblance'

/** Where the services report how long their stages took; the metrics are made of it. */
export interface StageTimer {
  observe(stage: Stage, seconds: number): void
  /** An answer that met its work bound before it was complete. */
  countIncomplete(): void
}

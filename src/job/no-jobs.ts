import { DittographError } from '../errors.ts'
import type { JobService } from '../service/job-service.ts'

export const refuseJobs = async (): Promise<never> => {
  throw new DittographError(
    'jobs_not_available',
    'Jobs need a database in a file, and this service keeps its documents in memory (DATABASE_URL)',
  )
}

/** The jobs of a service whose database is in memory, where no other thread can read it: every call rejects. */
export class NoJobs implements JobService {
  create = refuseJobs
  get = refuseJobs
  list = refuseJobs
  delete = refuseJobs
  pairs = refuseJobs
  clusters = refuseJobs

  isIdle(): boolean {
    return true
  }

  async close(): Promise<void> {}
}

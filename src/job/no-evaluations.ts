import type { EvaluationService } from '../service/evaluation-service.ts'
import { refuseJobs } from './no-jobs.ts'

/** The evaluation of a service that has no jobs: every call rejects. */
export class NoEvaluations implements EvaluationService {
  sample = refuseJobs
  statistics = refuseJobs
  evaluation = refuseJobs
  judge = refuseJobs
  judgements = refuseJobs
  forget = refuseJobs
}

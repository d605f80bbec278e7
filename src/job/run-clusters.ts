import type { ClustersRequest, ClustersSummary } from '../service/job-service.ts'

export const runClusters = (
  _request: ClustersRequest,
  _parts: { readonly report: (share: number) => void },
): ClustersSummary => {
  throw new Error('not yet')
}

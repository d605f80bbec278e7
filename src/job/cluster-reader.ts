import type { ClusterItem } from '../service/job-service.ts'

export class ClusterReader {
  constructor(readonly_file: string) {
    void readonly_file
  }
  close(): void {}
  page(_from: number, _limit: number): { clusters: ClusterItem[]; next: number | null } {
    return { clusters: [], next: null }
  }
}

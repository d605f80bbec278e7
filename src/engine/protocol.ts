import type { PageInput } from '../analysis/analyze.ts'
import { DittographError, type ErrorCode, type ErrorItem } from '../errors.ts'
import type { EvaluationService } from '../service/evaluation-service.ts'
import type { JobService } from '../service/job-service.ts'
import type {
  ComparisonService,
  DocumentInput,
  DocumentService,
  NearDuplicateService,
} from '../service/service.ts'

/** Everything that a collection can be asked for, by the name under which it goes between the threads. */
export type CollectionMethods = {
  readonly store: DocumentService['store']
  readonly get: DocumentService['get']
  readonly text: DocumentService['text']
  readonly delete: DocumentService['delete']
  readonly list: DocumentService['list']
  readonly duplicatesOfDocument: NearDuplicateService['ofDocument']
  readonly duplicatesOfPage: NearDuplicateService['ofPage']
  readonly compareDocuments: ComparisonService['ofDocuments']
  readonly comparePages: ComparisonService['ofPages']
  readonly analyze: ComparisonService['analyze']
  readonly createJob: JobService['create']
  readonly getJob: JobService['get']
  readonly listJobs: JobService['list']
  readonly deleteJob: JobService['delete']
  readonly pairsOfJob: JobService['pairs']
  readonly clustersOfJob: JobService['clusters']
  readonly sampleOfJob: EvaluationService['sample']
  readonly statisticsOfJob: EvaluationService['statistics']
  readonly evaluationOfJob: EvaluationService['evaluation']
  readonly judge: EvaluationService['judge']
  readonly judgements: EvaluationService['judgements']
  readonly forgetJudgement: EvaluationService['forget']
  readonly ready: () => Promise<void>
  readonly renderMetrics: () => Promise<string>
}

/** What it can be asked for as a whole. */
export type WholeMethods = {
  readonly allReady: () => Promise<void>
  readonly close: () => Promise<void>
}
export type EngineMethods = CollectionMethods & WholeMethods
export type MethodName = keyof EngineMethods

/** All calls, or all answers, of one turn of the event loop go over the port together. */
export type Call = {
  readonly call: number
  /** Name of the collection; null for what the engine does as a whole. */
  readonly collection: string | null
  readonly method: MethodName
  /** As the method takes them, but for the bytes of pages: in their place stands an `Extract`. */
  readonly args: readonly unknown[]
  /** Where the bytes of the pages are: from this position in the shared memory on, or sent along. */
  readonly pageBytes: number | Uint8Array
}
export type Answer =
  | { readonly call: number; readonly value: unknown }
  | { readonly call: number; readonly error: unknown }

/** Bytes of one page within those of its call. */
type Extract = { readonly offset: number; readonly length: number }

/** What a thread gets to know at its start. */
export type EngineData<Config> = {
  readonly config: Config
  /** Collections to open before anything else. */
  readonly collections: readonly string[]
  readonly sharedMemory: SharedArrayBuffer
}

/** `args` with another page in the place of each. */
const mapPages = (
  method: MethodName,
  args: readonly unknown[],
  map: (page: PageInput) => PageInput,
): readonly unknown[] => {
  const one = (page: unknown): PageInput => map(page as PageInput)
  const document = (input: DocumentInput): DocumentInput => ({ ...input, page: map(input.page) })
  if (method === 'store') return [(args[0] as readonly DocumentInput[]).map(document), args[1]]
  if (method === 'duplicatesOfPage') return [one(args[0]), args[1]]
  if (method === 'comparePages' || method === 'analyze') return args.map(one)
  return args
}

/** Takes the bytes of all pages out of the arguments of a call. */
export const takePageBytes = (
  method: MethodName,
  args: readonly unknown[],
): { args: readonly unknown[]; parts: readonly Uint8Array[] } => {
  const parts: Uint8Array[] = []
  let offset = 0
  const taken = mapPages(method, args, (page) => {
    const { content } = page
    if (!('bytes' in content)) return page
    const extract: Extract = { offset, length: content.bytes.byteLength }
    parts.push(content.bytes)
    offset += extract.length
    // The other thread puts the bytes back before anybody reads them.
    return { ...page, content: { ...content, bytes: extract as unknown as Uint8Array } }
  })
  return { args: taken, parts }
}

/** The opposite of `takePageBytes`; the pages' bytes are views of `bytes`, from `start` on. */
export const putPageBytesBack = (
  method: MethodName,
  args: readonly unknown[],
  bytes: ArrayBufferLike,
  start: number,
): readonly unknown[] =>
  mapPages(method, args, (page) => {
    const { content } = page
    if (!('bytes' in content)) return page
    const { offset, length } = content.bytes as unknown as Extract
    return { ...page, content: { ...content, bytes: new Uint8Array(bytes, start + offset, length) } }
  })

/** Our errors as plain data, since an instance of a class loses it on the way between threads. */
type SentError = {
  readonly sentError: ErrorCode
  readonly detail: string
  readonly items: readonly ErrorItem[]
}

/** `value`, or where it is one of our errors what is sent for it. */
export const toSend = (value: unknown): unknown =>
  value instanceof DittographError
    ? ({ sentError: value.code, detail: value.message, items: value.items } satisfies SentError)
    : value

/** The opposite of `toSend`. */
export const received = (value: unknown): unknown =>
  isSentError(value) ? new DittographError(value.sentError, value.detail, { items: value.items }) : value

const isSentError = (value: unknown): value is SentError =>
  typeof value === 'object' && value !== null && 'sentError' in value

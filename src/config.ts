import { DittographError } from './errors.ts'

type SettingBase = { readonly description: string }
type TextSetting = SettingBase & { readonly kind: 'text'; readonly default: string | null }
type IntegerSetting = SettingBase & {
  readonly kind: 'integer'
  readonly default: number
  readonly minimum: number
  readonly maximum: number
}
type NumberSetting = SettingBase & {
  readonly kind: 'number'
  readonly default: number
  readonly minimum: number
  readonly maximum: number
}
type BooleanSetting = SettingBase & { readonly kind: 'boolean'; readonly default: boolean }
type ChoiceSetting = SettingBase & {
  readonly kind: 'choice'
  readonly default: string
  readonly choices: readonly string[]
}
export type Setting = TextSetting | IntegerSetting | NumberSetting | BooleanSetting | ChoiceSetting

const mebibyte = 1024 * 1024

/** Every setting: its environment variable, and by the same name in lower case with dashes its flag. */
export const settings = {
  HOST: { kind: 'text', default: '127.0.0.1', description: 'Address to listen on' },
  PORT: {
    kind: 'integer',
    default: 8080,
    minimum: 0,
    maximum: 65_535,
    description: 'Port to listen on; 0 takes a free one',
  },
  DATABASE_URL: {
    kind: 'text',
    default: 'sqlite:./data/dittograph.db',
    description: 'Where documents are stored: sqlite:PATH or sqlite::memory:',
  },
  BODY_LIMIT_BYTES: {
    kind: 'integer',
    default: 16 * mebibyte,
    minimum: 1024,
    maximum: 1024 * mebibyte,
    description: 'Largest decoded request body; of NDJSON the largest line, of WARC the largest record',
  },
  TOKENIZER: {
    kind: 'choice',
    default: 'practical',
    choices: ['practical', 'literal'],
    description:
      'practical: NFKC, case folded, a term per character where words are not spaced; literal: the paper',
  },
  SITE_RULE: {
    kind: 'choice',
    default: 'public-suffix',
    choices: ['public-suffix', 'dots'],
    description: 'What is one site: the registrable domain, or the rule by dots of the paper',
  },
  KEEP_TEXT: {
    kind: 'boolean',
    default: true,
    description: 'Keep page texts; without them there is no resemblance, no diff and no re-signing',
  },
  HASH_SEED: {
    kind: 'text',
    default: null,
    description:
      'Secret of 16 or more characters that the hash functions depend on; better set by the environment than as a flag',
  },
  API_KEYS_FILE: {
    kind: 'text',
    default: null,
    description: 'File of API keys, made with `dittograph keys add`; unset leaves the service open',
  },
  KEY_REQUESTS_PER_MINUTE: {
    kind: 'integer',
    default: 0,
    minimum: 0,
    maximum: 1_000_000,
    description: 'Most requests a minute of a key that has no limit of its own; 0 is no limit',
  },
  OPEN_COLLECTIONS: {
    kind: 'integer',
    default: 8,
    minimum: 1,
    maximum: 1000,
    description: 'With API keys: most collections that are open at once; they share INDEX_MEMORY_MB',
  },
  LOG_LEVEL: {
    kind: 'choice',
    default: 'info',
    choices: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
    description: 'Least severity that is logged',
  },
  SYNCHRONOUS: {
    kind: 'choice',
    default: 'full',
    choices: ['full', 'normal'],
    description:
      'full: an acknowledged document survives a power loss; normal: it survives a killed process only',
  },
  INDEX_MEMORY_MB: {
    kind: 'integer',
    default: 512,
    minimum: 1,
    maximum: 65_536,
    description: 'Memory for the index; the newest pages are found in it, older ones by the tables',
  },
  QUERY_WORK_LIMIT: {
    kind: 'integer',
    default: 10_000,
    minimum: 100,
    maximum: 1_000_000,
    description: 'Most identity sets and members that one page of an answer looks at',
  },
  JOB_QUEUE_LIMIT: {
    kind: 'integer',
    default: 100,
    minimum: 1,
    maximum: 10_000,
    description: 'Most jobs that wait; they run one after the other',
  },
  JOB_RESULT_DAYS: {
    kind: 'integer',
    default: 7,
    minimum: 1,
    maximum: 3650,
    description: 'Days after which an ended job is removed with its result',
  },
  JOB_RESULTS_MB: {
    kind: 'integer',
    default: 10_240,
    minimum: 1,
    maximum: 10_485_760,
    description: 'Largest size of one result, and of all together: the oldest are removed first',
  },
  EXACT_MIN_THRESHOLD: {
    kind: 'number',
    default: 0.5,
    minimum: 0.1,
    maximum: 1,
    description: 'Least threshold of jaccard, cosine and dice that a search may ask for',
  },
  EXACT_INDEX: {
    kind: 'boolean',
    default: false,
    description:
      'Keep an index for the exact measures: they search it instead of all pages, and storing costs more',
  },
  REQUEST_TIMEOUT_MS: {
    kind: 'integer',
    default: 300_000,
    minimum: 1000,
    maximum: 86_400_000,
    description:
      'Longest time in which a request must have arrived whole, and of NDJSON or WARC the next line or record',
  },
  CONNECTION_LIMIT: {
    kind: 'integer',
    default: 4096,
    minimum: 1,
    maximum: 65_535,
    description:
      'Most open connections; more are closed at once. The process must be allowed as many open files',
  },
  SHUTDOWN_TIMEOUT_MS: {
    kind: 'integer',
    default: 10_000,
    minimum: 0,
    maximum: 600_000,
    description: 'Longest time that running requests get to finish after SIGTERM',
  },
} as const satisfies Record<string, Setting>

type SettingName = keyof typeof settings
type ValueOf<S extends Setting> = S extends IntegerSetting | NumberSetting
  ? number
  : S extends BooleanSetting
    ? boolean
    : S extends ChoiceSetting
      ? S['choices'][number]
      : S extends { default: null }
        ? string | null
        : string
export type Config = { readonly [K in SettingName]: ValueOf<(typeof settings)[K]> }

const allowed = (setting: Setting): string => {
  if (setting.kind === 'integer') return `a whole number from ${setting.minimum} to ${setting.maximum}`
  if (setting.kind === 'number') return `a number from ${setting.minimum} to ${setting.maximum}`
  if (setting.kind === 'boolean') return 'true or false'
  if (setting.kind === 'choice') return `one of ${setting.choices.join(', ')}`
  return 'a text that is not empty'
}

const parseValue = (name: string, setting: Setting, text: string): string | number | boolean => {
  const refuse = () =>
    new DittographError('invalid_configuration', `${name} must be ${allowed(setting)}, not "${text}"`)
  if (setting.kind === 'integer' || setting.kind === 'number') {
    const value = Number(text)
    const isWritten = setting.kind === 'integer' ? /^\d+$/.test(text) : /^\d+(\.\d+)?$/.test(text)
    if (!isWritten || value < setting.minimum || value > setting.maximum) throw refuse()
    return value
  }
  if (setting.kind === 'boolean') {
    if (text !== 'true' && text !== 'false') throw refuse()
    return text === 'true'
  }
  if (text === '' || (setting.kind === 'choice' && !setting.choices.includes(text))) throw refuse()
  return text
}

/**
 * The configuration from texts by setting name, as the environment gives them; a missing or empty variable
 * takes the default. Throws `invalid_configuration` with the setting and what is allowed.
 */
export const loadConfig = (texts: Readonly<Record<string, string | undefined>>): Config => {
  const config: Record<string, string | number | boolean | null> = {}
  for (const [name, setting] of Object.entries<Setting>(settings)) {
    const text = texts[name]
    config[name] = text === undefined || text === '' ? setting.default : parseValue(name, setting, text)
  }
  return Object.freeze(config) as Config // every setting was visited, each by its own kind
}

/** `DATABASE_URL` as a path for SQLite. Throws `invalid_configuration` for any other database. */
export const sqlitePathOf = (databaseUrl: string): string => {
  const path = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(databaseUrl)?.[1]
  if (path === undefined)
    throw new DittographError(
      'invalid_configuration',
      'DATABASE_URL must be sqlite:PATH (for example sqlite:./data/dittograph.db) or sqlite::memory:',
    )
  return path
}

/** Which folder may import which: data flows page -> signature -> detect -> store -> service -> http -> main. */
const mayImport = {
  page: [],
  warc: ['page/media-type'],
  signature: [],
  detect: ['signature'],
  join: [],
  kernel: ['page', 'signature'],
  analysis: ['page', 'signature', 'kernel'],
  evaluation: ['page', 'signature', 'detect'],
  store: ['signature', 'detect', 'join'],
  service: ['page', 'signature', 'detect', 'join', 'analysis', 'evaluation', 'store/store'],
  job: [
    'page',
    'signature',
    'detect',
    'join',
    'analysis',
    'evaluation',
    'store/snapshot',
    'store/publish-file',
    'store/sqlite/sqlite-error',
    'service',
  ],
  access: [],
  http: [
    'access',
    'service',
    'analysis',
    'evaluation',
    'detect',
    'join',
    'page',
    'warc',
    'kernel/string-end',
  ],
  ingest: ['service', 'http', 'warc'],
}

/** The threads of jobs put their parts together themselves, as `compose` does for the engine. */
const composesItself = '^src/job/job-thread\\.ts$'

const layers = Object.entries(mayImport).map(([folder, allowed]) => ({
  name: `${folder}-imports-only-what-lies-before-it`,
  severity: 'error',
  from: { path: `^src/${folder}/`, pathNot: composesItself },
  to: {
    path: '^src/',
    pathNot: [
      `^src/${folder}/`,
      '^src/(errors|young-garbage)\\.ts$',
      ...allowed.map((name) => `^src/${name}`),
    ],
  },
}))

module.exports = {
  forbidden: [
    ...layers,
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'pure-folders-touch-no-io',
      severity: 'error',
      from: { path: '^src/(page|signature|detect|join|analysis|evaluation)/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'a-store-is-known-only-to-compose',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/compose\\.ts$', composesItself, '^src/store/sqlite/'] },
      to: { path: '^src/store/sqlite/', pathNot: '^src/store/sqlite/sqlite-error\\.ts$' },
    },
    {
      name: 'no-dev-dependencies-in-src',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
  },
}

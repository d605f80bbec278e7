import type { PostingTable } from './posting-table.ts'

/** A document as its clients see it; `first` is the id of the first member of its set. */
const recordSql = (condition: string): string => `
  SELECT d.doc_no AS number, d.set_no AS "set", d.id, d.url, d.url_key AS urlKey, d.site, d.title,
    s.token_count AS tokenCount, s.content_hash AS contentHash, s.supershingles, s.simhash,
    (SELECT m.id FROM document m WHERE m.set_no = d.set_no ORDER BY m.doc_no LIMIT 1) AS first,
    d.created_at AS createdAt, d.updated_at AS updatedAt, d.fetched_at AS fetchedAt, d.metadata
  FROM document d JOIN identity_set s ON s.set_no = d.set_no
  ${condition}`

/** Statements that read and write documents. A test goes through the query plan of each. */
export const documentSql = {
  recordById: recordSql('WHERE d.id = ?'),
  recordByNumber: recordSql('WHERE d.doc_no = ?'),
  recordsAfter: recordSql('WHERE d.doc_no > ? ORDER BY d.doc_no LIMIT ?'),
  textById: `
    SELECT d.set_no AS "set", t.text
    FROM document d LEFT JOIN document_text t ON t.doc_no = d.doc_no
    WHERE d.id = ?`,
  signatureOfSet: 'SELECT supershingles, simhash FROM identity_set WHERE set_no = ?',
  setWithContent: 'SELECT set_no FROM identity_set WHERE set_no = ? AND content_hash = ?',
  membersAfter: `
    SELECT set_no AS "set", doc_no AS number, id, url, site
    FROM document WHERE set_no = ? AND doc_no > ? ORDER BY doc_no LIMIT ?`,
  firstMember: 'SELECT id FROM document WHERE set_no = ? ORDER BY doc_no LIMIT 1',
  storedVersion: `
    SELECT d.doc_no AS number, d.set_no AS "set", s.content_hash AS contentHash, d.url, d.url_key AS urlKey,
      d.site, d.title, d.created_at AS createdAt, d.fetched_at AS fetchedAt, d.metadata
    FROM document d JOIN identity_set s ON s.set_no = d.set_no
    WHERE d.id = ?`,
  textByNumber: 'SELECT text FROM document_text WHERE doc_no = ?',
  insertSet: `
    INSERT INTO identity_set (set_no, content_hash, token_count, supershingles, simhash)
    VALUES (?, ?, ?, ?, ?)`,
  /** A row that says whether the set had a signature, where it had no member and is gone now. */
  deleteSetWithoutMembers: `
    DELETE FROM identity_set
    WHERE set_no = ? AND NOT EXISTS (SELECT 1 FROM document d WHERE d.set_no = identity_set.set_no)
    RETURNING supershingles IS NOT NULL AS signed`,
  insertDocument: `
    INSERT INTO document
      (doc_no, id, set_no, url, url_key, site, title, created_at, updated_at, fetched_at, metadata)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  updateDocument: `
    UPDATE document SET title = ?, updated_at = ?, fetched_at = ?, metadata = ? WHERE doc_no = ?`,
  deleteDocument: 'DELETE FROM document WHERE doc_no = ?',
  insertText: 'INSERT INTO document_text (doc_no, text) VALUES (?, ?)',
  deleteText: 'DELETE FROM document_text WHERE doc_no = ?',
  addToTotals: `
    UPDATE total SET documents = documents + ?, sets = sets + ?, signed_sets = signed_sets + ?,
      greatest_number = max(greatest_number, ?)
    WHERE only = 1`,
  countGone: 'UPDATE posting_run SET gone = gone + ? WHERE run = ?',
  totals: `
    SELECT documents, sets, signed_sets AS signedSets, greatest_number AS greatestNumber
    FROM total WHERE only = 1`,
  setsAfter: `
    SELECT set_no AS "set", content_hash AS contentHash, supershingles, simhash
    FROM identity_set WHERE set_no > ? ORDER BY set_no`,
  documentsAfter: `
    SELECT doc_no AS number, url_key AS urlKey, site FROM document WHERE doc_no > ? ORDER BY doc_no`,
  touch: `
    INSERT INTO setting (name, value) VALUES ('checked_at', ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
} as const

/** Statements about whole runs; `posting_run` has a few dozen rows. */
export const runSql = {
  ready: `
    SELECT run, level, first_no AS firstNumber, last_no AS lastNumber, numbers, gone
    FROM posting_run WHERE state = 'ready' ORDER BY first_no`,
  unusable: `SELECT run FROM posting_run WHERE state <> 'ready'`,
  greatest: 'SELECT coalesce(max(run), 0) FROM posting_run',
  insert: `
    INSERT INTO posting_run (run, level, first_no, last_no, numbers, gone, state)
    VALUES (?, ?, ?, ?, ?, 0, 'building')`,
  publish: `UPDATE posting_run SET state = 'ready', gone = ? WHERE run = ?`,
  drop: `UPDATE posting_run SET state = 'dropped' WHERE run = ?`,
  delete: 'DELETE FROM posting_run WHERE run = ?',
} as const

const placeholders = (count: number): string => Array(count).fill('?').join(', ')

/** Statements of one posting table. Within a run, postings are in the order of `(slot, value, number)`. */
export const postingSql = ({ name, slot, value, number, numberExists }: PostingTable) => ({
  /** In no particular order. */
  readFromRuns: (runCount: number) => `
    SELECT ${number} FROM ${name}
    WHERE run IN (${placeholders(runCount)}) AND ${slot} = ? AND ${value} = ? AND ${number} > ? LIMIT ?`,
  readFromRun: `
    SELECT ${number} FROM ${name}
    WHERE run = ? AND ${slot} = ? AND ${value} = ? AND ${number} > ? ORDER BY ${number} LIMIT ?`,
  insert: (rowCount: number) =>
    `INSERT INTO ${name} VALUES ${Array(rowCount).fill('(?, ?, ?, ?)').join(', ')}`,
  /** The posting that follows a given one after skipping some. */
  skip: `
    SELECT ${slot} AS slot, ${value} AS value, ${number} AS number FROM ${name}
    WHERE run = ? AND (${slot}, ${value}, ${number}) > (?, ?, ?)
    ORDER BY ${slot}, ${value}, ${number} LIMIT 1 OFFSET ?`,
  /** Copies the postings of several runs after one position and up to another into a new run. */
  copy: (sourceCount: number, onlyExisting: boolean) => `
    INSERT INTO ${name}
    SELECT ?, ${slot}, ${value}, ${number} FROM ${name} p
    WHERE run IN (${placeholders(sourceCount)})
      AND (${slot}, ${value}, ${number}) > (?, ?, ?) AND (${slot}, ${value}, ${number}) <= (?, ?, ?)
      ${onlyExisting ? `AND ${numberExists}` : ''}
    ORDER BY ${slot}, ${value}, ${number}`,
  delete: `DELETE FROM ${name} WHERE run = ? AND (${slot}, ${value}, ${number}) <= (?, ?, ?)`,
})

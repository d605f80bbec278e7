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
  recordByNumber: recordSql('WHERE d.doc_no = ?'),
  recordOfId: recordSql('WHERE d.doc_no = ? AND d.id = ?'),
  recordsAfter: recordSql('WHERE d.doc_no > ? ORDER BY d.doc_no LIMIT ?'),
  textOfId: `
    SELECT d.set_no AS "set", CAST(t.text AS BLOB) AS text
    FROM document d LEFT JOIN document_text t ON t.doc_no = d.doc_no
    WHERE d.doc_no = ? AND d.id = ?`,
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
    WHERE d.doc_no = ? AND d.id = ?`,
  textByNumber: 'SELECT CAST(text AS BLOB) FROM document_text WHERE doc_no = ?',
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
  insertText: 'INSERT INTO document_text (doc_no, text) VALUES (?, CAST(? AS TEXT))',
  deleteText: 'DELETE FROM document_text WHERE doc_no = ?',
  addToTotals: `
    UPDATE total SET documents = documents + ?, sets = sets + ?, signed_sets = signed_sets + ?,
      greatest_number = max(greatest_number, ?)
    WHERE only = 1`,
  totals: `
    SELECT documents, sets, signed_sets AS signedSets, greatest_number AS greatestNumber
    FROM total WHERE only = 1`,
  /** Signed sets with so many tokens in a range of numbers, each with the text of the first member that has one. */
  scanSets: `
    SELECT s.set_no AS "set", s.supershingles, s.simhash,
      (SELECT CAST(t.text AS BLOB) FROM document d JOIN document_text t ON t.doc_no = d.doc_no
        WHERE d.set_no = s.set_no ORDER BY d.doc_no LIMIT 1) AS text
    FROM identity_set s
    WHERE s.set_no > ? AND s.set_no <= ? AND s.token_count BETWEEN ? AND ? AND s.supershingles IS NOT NULL
    ORDER BY s.set_no LIMIT ?`,
  /** The last one of so many sets, and how many there are. */
  scanWindow: `
    SELECT max(set_no) AS last, count(*) AS sets
    FROM (SELECT set_no FROM identity_set WHERE set_no > ? ORDER BY set_no LIMIT ?)`,
  /** The newest set that is left out when so many are taken. */
  setBeforeNewest: 'SELECT set_no FROM identity_set ORDER BY set_no DESC LIMIT 1 OFFSET ?',
  /** Records of sets (8 bytes of the content hash, then the signature) one behind the other. */
  setsAfter: `
    SELECT max(set_no) AS lastNumber, group_concat(set_no) AS numbers,
      CAST(group_concat(
        substr(content_hash, 1, 8) || coalesce(supershingles || simhash, zeroblob(96)), ''
      ) AS BLOB) AS records,
      group_concat(supershingles IS NOT NULL, '') AS signed
    FROM (SELECT * FROM identity_set WHERE set_no > ? ORDER BY set_no LIMIT ?)`,
  documentsAfter: `
    SELECT doc_no AS number, id, url_key AS urlKey, site FROM document
    WHERE doc_no > ? AND doc_no <= ? ORDER BY doc_no`,
  /** Sets, each with the text of the first member that has one. */
  setTextsAfter: `
    SELECT s.set_no AS "set", s.content_hash AS contentHash, s.supershingles, s.simhash,
      (SELECT CAST(t.text AS BLOB) FROM document d JOIN document_text t ON t.doc_no = d.doc_no
        WHERE d.set_no = s.set_no ORDER BY d.doc_no LIMIT 1) AS text
    FROM identity_set s WHERE s.set_no > ? AND s.set_no <= ? ORDER BY s.set_no`,
  setText: `
    SELECT s.set_no AS "set", s.supershingles, s.simhash,
      (SELECT CAST(t.text AS BLOB) FROM document d JOIN document_text t ON t.doc_no = d.doc_no
        WHERE d.set_no = s.set_no ORDER BY d.doc_no LIMIT 1) AS text
    FROM identity_set s WHERE s.set_no = ?`,
  touch: `
    INSERT INTO setting (name, value) VALUES ('checked_at', ?)
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
} as const

/** Statements about runs and their segments; `posting_run` has a few dozen rows. */
export const runSql = {
  ready: `
    SELECT run, level, first_no AS firstNumber, last_no AS lastNumber, number_bytes AS numberBytes, numbers,
      (SELECT count(*) FROM gone_number WHERE number BETWEEN first_no AND last_no) AS gone
    FROM posting_run WHERE state = 'ready' ORDER BY first_no`,
  unusable: `SELECT run FROM posting_run WHERE state <> 'ready'`,
  greatest: 'SELECT coalesce(max(run), 0) FROM posting_run',
  insert: `
    INSERT INTO posting_run (run, level, first_no, last_no, number_bytes, numbers, state)
    VALUES (?, ?, ?, ?, ?, ?, 'building')`,
  publish: `UPDATE posting_run SET state = 'ready' WHERE run = ?`,
  drop: `UPDATE posting_run SET state = 'dropped' WHERE run = ?`,
  delete: 'DELETE FROM posting_run WHERE run = ?',
} as const

/** Statements about what is in runs. */
export const postingSql = {
  segment: `
    SELECT first_block AS firstBlock, postings, block_starts AS blockStarts, filter
    FROM posting_segment WHERE segment = ?`,
  insertSegment: `
    INSERT INTO posting_segment (segment, first_block, postings, block_starts, filter) VALUES (?, ?, ?, ?, ?)`,
  deleteSegments: 'DELETE FROM posting_segment WHERE segment BETWEEN ? AND ?',
  blockEntries: 'SELECT entries FROM posting_block WHERE block = ?',
  insertBlock: 'INSERT INTO posting_block (block, slot, postings, entries) VALUES (?, ?, ?, ?)',
  deleteBlocks: `
    DELETE FROM posting_block
    WHERE block IN (SELECT block FROM posting_block WHERE block BETWEEN ? AND ? ORDER BY block LIMIT ?)
    RETURNING postings`,
  insertGone: 'INSERT OR IGNORE INTO gone_number (number) VALUES (?)',
  goneAfter: 'SELECT number FROM gone_number WHERE number > ? AND number <= ? ORDER BY number LIMIT ?',
  deleteGone: 'DELETE FROM gone_number WHERE number = ?',
  deleteGoneAfter: 'DELETE FROM gone_number WHERE number > ?',
} as const

/** Statements that copy a snapshot: `source` is the database, `main` a file of the job. */
export const snapshotSql = {
  counts: `
    SELECT (SELECT count(*) FROM source.identity_set WHERE supershingles IS NOT NULL) AS sets,
      (SELECT count(*) FROM source.document) AS documents`,
  setsAfter: `
    SELECT max(set_no) AS lastNumber, group_concat(set_no) AS numbers, group_concat(token_count) AS tokenCounts,
      CAST(group_concat(supershingles || simhash, '') AS BLOB) AS sketches
    FROM (
      SELECT set_no, token_count, supershingles, simhash FROM source.identity_set
      WHERE set_no > ? AND supershingles IS NOT NULL ORDER BY set_no LIMIT ?
    )`,
  copyDocuments: `
    CREATE TABLE main.document (
      doc_no INTEGER NOT NULL PRIMARY KEY, id TEXT NOT NULL, url TEXT, site TEXT, fetched_at TEXT, created_at INTEGER NOT NULL
    ) STRICT;
    INSERT INTO main.document
    SELECT doc_no, id, url, site, fetched_at, created_at FROM source.document ORDER BY doc_no`,
  members: 'SELECT doc_no, set_no, site FROM source.document ORDER BY doc_no',
  document: `
    SELECT id, url, site, fetched_at AS fetchedAt, created_at AS createdAt FROM main.document WHERE doc_no = ?`,
} as const

/** Statements about the exact index; a database has a few tens of thousands of frequent features at most. */
export const featureSql = {
  frequent: 'SELECT feature FROM frequent_feature WHERE slot = ? ORDER BY rank',
  insertFrequent: 'INSERT INTO frequent_feature (slot, rank, feature) VALUES (?, ?, ?)',
  deleteFrequent: 'DELETE FROM frequent_feature',
  setting: 'SELECT value FROM setting WHERE name = ?',
  setSetting: `
    INSERT INTO setting (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
  forgetSetting: 'DELETE FROM setting WHERE name = ?',
} as const

/** Statements of a reindexing. */
export const reindexSql = {
  /** Until the end the database is not to be opened by anybody else. */
  begin: `INSERT OR REPLACE INTO setting (name, value) VALUES ('reindexing', 'begun')`,
  isBegun: `SELECT 1 FROM setting WHERE name = 'reindexing'`,
  end: `DELETE FROM setting WHERE name = 'reindexing'`,
  countSets: 'SELECT sets FROM total WHERE only = 1',
  dropRuns: `UPDATE posting_run SET state = 'dropped'`,
  setNumbersAfter: 'SELECT set_no FROM identity_set WHERE set_no > ? ORDER BY set_no LIMIT ?',
  nthSetAfter: 'SELECT set_no FROM identity_set WHERE set_no > ? ORDER BY set_no LIMIT 1 OFFSET ?',
  nthDocumentAfter: 'SELECT doc_no FROM document WHERE doc_no > ? ORDER BY doc_no LIMIT 1 OFFSET ?',
} as const

const copiedDocument = (condition: string): string => `
  SELECT d.doc_no AS number, d.id, d.url, d.title, d.created_at AS createdAt, d.updated_at AS updatedAt,
    d.fetched_at AS fetchedAt, d.metadata, CAST(t.text AS BLOB) AS text
  FROM main.document d LEFT JOIN main.document_text t ON t.doc_no = d.doc_no
  ${condition}`

/** Statements of re-signing: `main` is the database, `target` the one that is filled from it. */
export const resignSql = {
  documentsAfter: copiedDocument('WHERE d.doc_no > ? ORDER BY d.doc_no'),
  document: copiedDocument('WHERE d.doc_no = ?'),
  lastTarget: 'SELECT coalesce(max(doc_no), 0) FROM target.document',
  targetContent: `
    SELECT s.content_hash FROM target.document n JOIN target.identity_set s ON s.set_no = n.set_no
    WHERE n.doc_no = ?`,
  nthDocumentAfter: 'SELECT doc_no FROM main.document WHERE doc_no > ? ORDER BY doc_no LIMIT 1 OFFSET ?',
  nthTargetAfter: 'SELECT doc_no FROM target.document WHERE doc_no > ? ORDER BY doc_no LIMIT 1 OFFSET ?',
  /** What changed without a new number, and what has a text now that it had not. */
  changed: `
    SELECT d.doc_no FROM main.document d LEFT JOIN target.document n ON n.doc_no = d.doc_no
    WHERE d.doc_no > ? AND d.doc_no <= ? AND CASE
      WHEN n.doc_no IS NULL THEN EXISTS (SELECT 1 FROM main.document_text t WHERE t.doc_no = d.doc_no)
      ELSE d.updated_at <> n.updated_at OR d.title IS NOT n.title OR d.fetched_at IS NOT n.fetched_at
        OR d.metadata IS NOT n.metadata
    END`,
  removed: `
    SELECT n.id FROM target.document n
    WHERE n.doc_no > ? AND n.doc_no <= ?
      AND NOT EXISTS (SELECT 1 FROM main.document d WHERE d.doc_no = n.doc_no)`,
  countWithoutText: `
    SELECT count(*) FROM main.document d
    WHERE d.doc_no > ? AND d.doc_no <= ?
      AND NOT EXISTS (SELECT 1 FROM main.document_text t WHERE t.doc_no = d.doc_no)`,
  copyTotals: `
    SELECT s.documents, s.greatest_number AS greatestNumber, n.documents AS copied,
      (SELECT value FROM main.setting WHERE name = 'checked_at') AS checkedAt
    FROM main.total s, target.total n`,
  raiseGreatestNumber: 'UPDATE total SET greatest_number = max(greatest_number, ?)',
} as const

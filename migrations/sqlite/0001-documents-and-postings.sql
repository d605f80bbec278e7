-- What the database is: scheme (under which rules its signatures were made), and whatever else must be remembered.
CREATE TABLE setting (
  name TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- One row, changed in the transaction that changes what it counts.
CREATE TABLE total (
  only INTEGER NOT NULL PRIMARY KEY CHECK (only = 1),
  documents INTEGER NOT NULL,
  sets INTEGER NOT NULL,
  signed_sets INTEGER NOT NULL,
  greatest_number INTEGER NOT NULL -- of all set and document numbers that were ever stored
) STRICT;
INSERT INTO total VALUES (1, 0, 0, 0, 0);

-- Documents with equal token sequences. The row holds the whole signature; postings are derived from it.
CREATE TABLE identity_set (
  set_no INTEGER NOT NULL PRIMARY KEY,
  content_hash BLOB NOT NULL,
  token_count INTEGER NOT NULL,
  supershingles BLOB, -- 6 x 8 bytes, big-endian
  simhash BLOB, -- 48 bytes, coordinate 0 is the highest bit of the first byte
  CHECK ((supershingles IS NULL) = (simhash IS NULL))
) STRICT;

-- A document whose content, URL or site changes gets a new number, so rows are appended in order of doc_no.
CREATE TABLE document (
  doc_no INTEGER NOT NULL PRIMARY KEY,
  id TEXT NOT NULL, -- unique, and found by its postings: an index in random order would be written all over
  set_no INTEGER NOT NULL REFERENCES identity_set,
  url TEXT,
  url_key TEXT,
  site TEXT,
  title TEXT,
  created_at INTEGER NOT NULL, -- milliseconds since 1970
  updated_at INTEGER NOT NULL,
  fetched_at TEXT,
  metadata TEXT -- JSON
) STRICT;

-- Members of a set in order: the row number that ends every index entry is doc_no.
CREATE INDEX document_member ON document (set_no);

CREATE TABLE document_text (
  doc_no INTEGER NOT NULL PRIMARY KEY REFERENCES document ON DELETE CASCADE,
  text TEXT NOT NULL
) STRICT;

-- Postings are written as sorted runs and never changed, so that writing them appends to tables instead of touching
-- leaves all over them. Runs that are ready cover disjoint ranges of numbers; what has a greater number than all of
-- them is not in any run yet, and is made from the rows at start. A posting of a number that is gone means nothing.
-- The views at the end decode them.
CREATE TABLE posting_run (
  run INTEGER NOT NULL PRIMARY KEY,
  level INTEGER NOT NULL, -- 0 as flushed, one more for each merge
  first_no INTEGER NOT NULL,
  last_no INTEGER NOT NULL,
  number_bytes INTEGER NOT NULL, -- of a number in the blocks of the run
  numbers INTEGER NOT NULL, -- sets and documents with postings in the run
  state TEXT NOT NULL CHECK (state IN ('building', 'ready', 'dropped'))
) STRICT;

-- Sets and documents that are gone while a run still has postings of them.
CREATE TABLE gone_number (
  number INTEGER NOT NULL PRIMARY KEY
) STRICT;

CREATE TABLE posting_kind (
  slot INTEGER NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL,
  position INTEGER NOT NULL,
  value_bytes INTEGER NOT NULL
) STRICT;
WITH RECURSIVE slot(slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM slot WHERE slot < 22)
INSERT INTO posting_kind
SELECT slot,
  CASE
    WHEN slot < 6 THEN 'supershingle'
    WHEN slot < 19 THEN 'band' -- 29 or 30 bits of the simhash
    WHEN slot = 19 THEN 'content_hash' -- its first 8 bytes -> set
    WHEN slot = 20 THEN 'url_key' -- XXH64 -> document, as with the following
    WHEN slot = 21 THEN 'site'
    ELSE 'id'
  END,
  CASE WHEN slot < 6 THEN slot WHEN slot < 19 THEN slot - 6 ELSE 0 END,
  CASE WHEN slot BETWEEN 6 AND 18 THEN 4 ELSE 8 END
FROM slot;

-- All postings of a run in one slot.
CREATE TABLE posting_segment (
  segment INTEGER NOT NULL PRIMARY KEY, -- run * 64 + slot
  first_block INTEGER NOT NULL,
  postings INTEGER NOT NULL,
  block_starts BLOB NOT NULL, -- value (8 bytes) and number (8 bytes) of the first posting of each block, big-endian
  filter BLOB NOT NULL -- a Bloom filter of the values, 32-bit words, little-endian
) STRICT;

CREATE TABLE posting_block (
  block INTEGER NOT NULL PRIMARY KEY, -- run * 2^24 + count within the run
  slot INTEGER NOT NULL,
  postings INTEGER NOT NULL,
  entries BLOB NOT NULL -- values in order, then as many numbers less first_no; big-endian
) STRICT;

-- One row for each posting of the runs that are ready. Values are hexadecimal.
CREATE VIEW posting AS
WITH RECURSIVE place(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM place WHERE i < 2047)
SELECT r.run, k.slot, k.kind, k.position,
  lower(hex(substr(b.entries, 1 + i * k.value_bytes, k.value_bytes))) AS value,
  r.first_no + json_extract(
    '0x' || hex(substr(b.entries, 1 + b.postings * k.value_bytes + i * r.number_bytes, r.number_bytes)), '$'
  ) AS number
FROM posting_run r
JOIN posting_block b ON b.block BETWEEN r.run << 24 AND (r.run << 24) + 0xffffff
JOIN posting_kind k ON k.slot = b.slot
JOIN place ON place.i < b.postings
WHERE r.state = 'ready';

CREATE VIEW supershingle_posting AS
SELECT run, position, value AS supershingle, number AS set_no FROM posting WHERE slot < 6;

CREATE VIEW band_posting AS
SELECT run, position AS band, value AS bits, number AS set_no FROM posting WHERE slot BETWEEN 6 AND 18;

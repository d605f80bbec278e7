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
  id TEXT NOT NULL UNIQUE,
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

-- Postings are written as sorted runs and never changed. The run leads every key, so that writing one appends to
-- the table instead of touching leaves all over it. Runs that are ready cover disjoint ranges of numbers; what
-- has a greater number than all of them is not in any run yet. A posting of a number that is gone means nothing.
CREATE TABLE posting_run (
  run INTEGER NOT NULL PRIMARY KEY,
  level INTEGER NOT NULL, -- 0 as flushed, one more for each merge
  first_no INTEGER NOT NULL,
  last_no INTEGER NOT NULL,
  numbers INTEGER NOT NULL, -- sets and documents with postings in the run
  gone INTEGER NOT NULL, -- how many of them were deleted or replaced since it was written
  state TEXT NOT NULL CHECK (state IN ('building', 'ready', 'dropped'))
) STRICT;

CREATE TABLE supershingle_posting (
  run INTEGER NOT NULL,
  position INTEGER NOT NULL, -- 0 to 5
  supershingle INTEGER NOT NULL, -- 64 bits, as a signed integer
  set_no INTEGER NOT NULL,
  PRIMARY KEY (run, position, supershingle, set_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE band_posting (
  run INTEGER NOT NULL,
  band INTEGER NOT NULL, -- 0 to 12
  bits INTEGER NOT NULL, -- 29 or 30 bits of the simhash
  set_no INTEGER NOT NULL,
  PRIMARY KEY (run, band, bits, set_no)
) STRICT, WITHOUT ROWID;

CREATE TABLE lookup_posting (
  run INTEGER NOT NULL,
  kind INTEGER NOT NULL, -- 0: content hash -> set, 1: URL key -> document, 2: site -> document
  hash INTEGER NOT NULL, -- XXH64, as a signed integer
  number INTEGER NOT NULL,
  PRIMARY KEY (run, kind, hash, number)
) STRICT, WITHOUT ROWID;

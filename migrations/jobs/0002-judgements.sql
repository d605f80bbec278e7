-- What people say of pairs of documents. It stays when jobs and their results are removed.
CREATE TABLE judgement (
  a TEXT NOT NULL, -- the lower id, as the program compares them
  b TEXT NOT NULL,
  label TEXT NOT NULL CHECK (label IN ('correct', 'incorrect', 'undecided')),
  reason TEXT,
  content_a TEXT NOT NULL, -- content hashes of the documents that were judged
  content_b TEXT NOT NULL,
  judged_at INTEGER NOT NULL, -- milliseconds since 1970
  PRIMARY KEY (a, b)
) STRICT, WITHOUT ROWID;

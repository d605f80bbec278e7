-- Jobs, in a database of their own beside that of the documents: nothing here ever waits for a document to be written, or
-- makes one wait.
CREATE TABLE job (
  id TEXT NOT NULL PRIMARY KEY, -- UUIDv7, in order of time
  kind TEXT NOT NULL CHECK (kind IN ('join', 'clusters')),
  request TEXT NOT NULL, -- JSON with all defaults, so that equal requests are equal texts
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  attempts INTEGER NOT NULL, -- how often it was started
  created_at INTEGER NOT NULL, -- milliseconds since 1970
  started_at INTEGER,
  finished_at INTEGER,
  result TEXT, -- JSON
  result_bytes INTEGER NOT NULL,
  reason TEXT
) STRICT, WITHOUT ROWID;

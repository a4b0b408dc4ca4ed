-- JSON, see links/link.ts; NULL for nearly all.
ALTER TABLE links ADD COLUMN terms TEXT;

-- What requests made that may be sent again. Only what the request does not say itself.
CREATE TABLE requests (
  key     TEXT    NOT NULL PRIMARY KEY,  -- keyed hashes of the client's key and of the body
  body    TEXT    NOT NULL,
  sent_ms INTEGER NOT NULL,
  made    TEXT    NOT NULL               -- JSON: for each link its number, code, created_ms and ends_ms
) STRICT, WITHOUT ROWID;

CREATE INDEX requests_by_time ON requests (sent_ms);

-- One row: whoever knows it can make the manage key of every link.
CREATE TABLE secrets (
  name   TEXT NOT NULL PRIMARY KEY,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Nothing needs it any more.
DROP TABLE copied;

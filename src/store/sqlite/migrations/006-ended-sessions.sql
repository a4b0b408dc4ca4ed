-- Digests of the operator's sessions that were signed out. A row is deleted after its session would have ended.
CREATE TABLE ended_sessions (
  session BLOB    NOT NULL PRIMARY KEY,
  ends_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

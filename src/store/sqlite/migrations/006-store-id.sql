-- One row. The journal of visits belongs to the store with this id. Backups keep it, exports don't.
CREATE TABLE store (
  id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;

INSERT INTO store VALUES (lower(hex(randomblob(16))));

-- Which links lead to a site, in parts of 32768 rowids: only the newest part changes, so that all of it stays in memory.
-- It lags behind: links after the last row of blocks are not in it yet.
CREATE TABLE sites (
  part  INTEGER NOT NULL,
  site  INTEGER NOT NULL,   -- 32 bits of a hash, see sites.ts
  place INTEGER NOT NULL,   -- the link's rowid is part * 32768 + place
  PRIMARY KEY (part, site, place)
) STRICT, WITHOUT ROWID;

-- When the links of a block were made: 512 rowids, from block * 512.
CREATE TABLE blocks (
  block     INTEGER NOT NULL PRIMARY KEY,
  oldest_ms INTEGER NOT NULL,
  newest_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;

-- How often something happened on a day (UTC, days since 1970-01-01).
CREATE TABLE counters (
  day   INTEGER NOT NULL,
  name  TEXT    NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (day, name)
) STRICT, WITHOUT ROWID;

-- Which links lead to a site. It lags behind: links after the last row of blocks are not in it yet.
CREATE TABLE sites (
  site INTEGER NOT NULL,   -- 32 bits of a hash, see sites.ts
  link INTEGER NOT NULL,   -- rowid
  PRIMARY KEY (site, link)
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

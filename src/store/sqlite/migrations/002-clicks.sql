-- Visits of a link in one day (UTC, days since 1970-01-01); day 0 holds what is too old to be told by day.
CREATE TABLE clicks (
  day        INTEGER NOT NULL,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL,   -- a code can be given again: counts belong to one link
  visits     INTEGER NOT NULL,
  bots       INTEGER NOT NULL,
  stage      INTEGER NOT NULL,   -- 0: open, 1: visitors are numbers, 2: no hours either
  detail     TEXT,               -- JSON; NULL for day 0
  UNIQUE (day, code, created_ms)
) STRICT;

-- Ageing reads this; what has aged costs it nothing.
CREATE INDEX clicks_by_stage ON clicks (stage, day) WHERE stage < 2;

-- How far each journal is folded: links of the segment that this sequence names.
CREATE TABLE journals (
  journal  TEXT    NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL,
  links    INTEGER NOT NULL,
  hour     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE salts (
  day  INTEGER NOT NULL PRIMARY KEY,
  salt BLOB    NOT NULL
) STRICT;

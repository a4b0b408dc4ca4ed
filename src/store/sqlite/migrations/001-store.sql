-- Newer links have higher rowids.
CREATE TABLE links (
  code         TEXT    NOT NULL UNIQUE,
  created_ms   INTEGER NOT NULL,
  ends_ms      INTEGER,          -- NULL: never
  disabled     TEXT,             -- why; 'deleted' if only the code is kept. NULL for nearly all
  terms        TEXT,             -- JSON, see links/link.ts; NULL for nearly all
  target       TEXT,             -- NULL if it equals original_url
  original_url TEXT    NOT NULL
) STRICT;

-- For the purge and for events. Links that the purge leaves alone cost it nothing.
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL AND disabled IS NULL;

CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;

-- Every change to an existing link, in the order of the commits, for the caches of other processes. A change of the rules
-- about hosts has an empty code.
CREATE TABLE changes (
  revision INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  code     TEXT    NOT NULL
) STRICT;

-- What requests created that may be retried. Only what the request doesn't say itself.
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

-- Visits of a link on one day (UTC, days since 1970-01-01). Day 0 is the sum of days that are no longer kept.
CREATE TABLE visits (
  day        INTEGER NOT NULL,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL,   -- a code can be given again: counts belong to one link
  visits     INTEGER NOT NULL,
  bots       INTEGER NOT NULL,
  detail     BLOB,               -- see visits/detail.ts; NULL for day 0
  PRIMARY KEY (day, code, created_ms)
) STRICT, WITHOUT ROWID;

-- Days with rows that may not be closed yet. Ageing goes through the rows of a day in their order, and is at this one.
CREATE TABLE open_days (
  day        INTEGER NOT NULL PRIMARY KEY,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;

-- How far each source of visits has been added: rows of its present sequence, and the day of the last ones.
CREATE TABLE sources (
  source   TEXT    NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL,
  rows     INTEGER NOT NULL,
  day      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sources_by_day ON sources (day);

CREATE TABLE salts (
  day  INTEGER NOT NULL PRIMARY KEY,
  salt BLOB    NOT NULL
) STRICT;

-- Links to these hosts, and to all hosts below them, don't work.
CREATE TABLE hosts (
  host     TEXT    NOT NULL PRIMARY KEY,
  reason   TEXT    NOT NULL,
  since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What was decided about links and hosts. Nothing may change or remove a row.
CREATE TABLE journal (
  entry      INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  at_ms      INTEGER NOT NULL,
  who        TEXT    NOT NULL,
  action     TEXT    NOT NULL,
  reason     TEXT,
  note       BLOB,                         -- UTF-8
  code       TEXT,
  created_ms INTEGER,
  host       TEXT
) STRICT;

CREATE INDEX journal_by_code ON journal (code) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host) WHERE host IS NOT NULL;

CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;

-- All reports of one link (code and created_ms) are one case.
CREATE TABLE cases (
  code        TEXT    NOT NULL,
  created_ms  INTEGER NOT NULL,
  is_open     INTEGER NOT NULL,
  first_ms    INTEGER NOT NULL,
  last_ms     INTEGER NOT NULL,
  reports     INTEGER NOT NULL,
  reasons     TEXT    NOT NULL,  -- JSON: how many reports gave each reason
  pending     INTEGER NOT NULL,  -- reports since the case was opened
  disabled_ms INTEGER,           -- when reports disabled the link
  answer      TEXT,              -- NULL while it is open
  answered_ms INTEGER,
  PRIMARY KEY (code, created_ms)
) STRICT, WITHOUT ROWID;

CREATE INDEX cases_by_report ON cases (is_open, last_ms, code, created_ms);

-- The sum of a link's old days goes with the link, when it is purged or replaced by another one with its code. Nothing can be
-- decided about it any more.
CREATE TRIGGER link_is_purged AFTER DELETE ON links
BEGIN
  DELETE FROM visits WHERE day = 0 AND code = old.code AND created_ms = old.created_ms;
  UPDATE cases SET is_open = 0, answer = 'erase', answered_ms = old.ends_ms, disabled_ms = NULL
  WHERE code = old.code AND created_ms = old.created_ms AND is_open = 1;
END;
CREATE TRIGGER link_is_replaced AFTER UPDATE OF created_ms ON links
BEGIN
  DELETE FROM visits WHERE day = 0 AND code = old.code AND created_ms = old.created_ms;
  UPDATE cases SET is_open = 0, answer = 'erase', answered_ms = old.ends_ms, disabled_ms = NULL
  WHERE code = old.code AND created_ms = old.created_ms AND is_open = 1;
END;

-- The last notes of each case.
CREATE TABLE notes (
  id         INTEGER NOT NULL PRIMARY KEY,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL,
  noted_ms   INTEGER NOT NULL,
  reason     TEXT    NOT NULL,
  note       BLOB    NOT NULL    -- UTF-8
) STRICT;

CREATE INDEX notes_by_case ON notes (code, created_ms, id);

-- Who has reported a link today: keyed hashes, which are deleted when the day is over.
CREATE TABLE reporters (
  day        INTEGER NOT NULL,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL,
  reporter   TEXT    NOT NULL,
  PRIMARY KEY (day, code, created_ms, reporter)
) STRICT, WITHOUT ROWID;

-- How often something happened on a day (UTC, days since 1970-01-01).
CREATE TABLE counters (
  day   INTEGER NOT NULL,
  name  TEXT    NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (day, name)
) STRICT, WITHOUT ROWID;

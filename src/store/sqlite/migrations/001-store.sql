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
  host       TEXT,
  operator   TEXT                          -- a name, if the token or the proxy gives one
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
  target_ms   INTEGER,           -- when the link got the target that was answered or disabled: a later one opens the case again
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

-- Digests of the operator's sessions that were signed out. A row is deleted after its session would have ended.
CREATE TABLE ended_sessions (
  session BLOB    NOT NULL PRIMARY KEY,
  ends_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Events of links and hosts that wait for EVENTS_URL, and the last ones sent.
CREATE TABLE events (
  seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  type       TEXT    NOT NULL,
  code       TEXT,                          -- NULL for a host
  created_ms INTEGER,
  detail     TEXT,                          -- the host, or why the link is disabled
  at_ms      INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  sent       INTEGER NOT NULL DEFAULT FALSE,
  operator   TEXT                           -- who decided it, as in the journal
) STRICT;

-- The operator whose decision is being written. A row exists only within its transaction.
CREATE TABLE acting (
  operator TEXT NOT NULL
) STRICT;
CREATE TRIGGER event_of_operator AFTER INSERT ON events
WHEN new.type <> 'link.created' AND EXISTS (SELECT 1 FROM acting)
BEGIN
  UPDATE events SET operator = (SELECT operator FROM acting) WHERE seq = new.seq;
END;

-- Events that EVENTS_URL refused. Not in `events`: recording ends when the numbers there span too many.
CREATE TABLE refused_events (
  seq        INTEGER NOT NULL PRIMARY KEY,
  type       TEXT    NOT NULL,
  code       TEXT,
  created_ms INTEGER,
  detail     TEXT,
  at_ms      INTEGER NOT NULL,
  operator   TEXT
) STRICT;

-- At most one row. A process with EVENTS_URL writes it, which turns recording on.
CREATE TABLE event_sender (
  id           INTEGER NOT NULL PRIMARY KEY,
  owner        TEXT    NOT NULL,            -- the process that sends, '' if none does
  turn         INTEGER NOT NULL,            -- grows while the owner works
  types        TEXT    NOT NULL,            -- what to record, with a space around each type
  renewed      TEXT    NOT NULL,
  expired_ms   INTEGER NOT NULL,            -- links that ended up to here have their event
  expired_code TEXT    NOT NULL,
  batch        TEXT    NOT NULL DEFAULT '[]' -- JSON: the last request's events, which another process sends again
) STRICT;

-- Recording ends a day after the last process with EVENTS_URL, and before unsent events fill the disk.
CREATE VIEW event_recording AS
SELECT types FROM event_sender
WHERE renewed > datetime('now', '-1 day')
  AND coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events), 0) < 200000;

-- Ignores unwanted types. The triggers below insert changes that are no event without a type.
CREATE TRIGGER event_wanted BEFORE INSERT ON events
WHEN NOT EXISTS (SELECT 1 FROM event_recording WHERE types LIKE '% ' || new.type || ' %')
BEGIN SELECT raise(IGNORE); END;

-- A replaced link has expired, unless the sender has recorded that. A counted visit is no change.
CREATE TRIGGER event_of_link AFTER UPDATE ON links
BEGIN
  INSERT INTO events (code, created_ms, detail, type) SELECT old.code, old.created_ms, new.disabled, CASE
    WHEN new.created_ms <> old.created_ms THEN
      iif(old.terms ->> 'ended' IS NULL AND old.ends_ms >= (SELECT expired_ms FROM event_sender), 'link.expired', NULL)
    WHEN new.disabled IS NOT old.disabled THEN iif(new.disabled IS NULL, 'link.enabled', 'link.disabled')
    WHEN new.terms ->> 'ended' = 'withdrawn' THEN 'link.withdrawn'
    WHEN new.terms ->> 'ended' = 'visits' THEN 'link.expired'
    WHEN new.original_url <> old.original_url OR new.ends_ms IS NOT old.ends_ms
      OR json_remove(coalesce(new.terms, '{}'), '$.visits') <> json_remove(coalesce(old.terms, '{}'), '$.visits')
      THEN 'link.changed'
  END;
END;
CREATE TRIGGER event_of_purge AFTER DELETE ON links
WHEN old.terms ->> 'ended' IS NULL AND old.ends_ms >= (SELECT expired_ms FROM event_sender)
BEGIN
  INSERT INTO events (code, created_ms, type) VALUES (old.code, old.created_ms, 'link.expired');
END;

CREATE TRIGGER event_of_case AFTER INSERT ON cases WHEN new.is_open
BEGIN
  INSERT INTO events (code, created_ms, type) VALUES (new.code, new.created_ms, 'report.opened');
END;
CREATE TRIGGER event_of_reopened_case AFTER UPDATE ON cases WHEN new.is_open AND NOT old.is_open
BEGIN
  INSERT INTO events (code, created_ms, type) VALUES (new.code, new.created_ms, 'report.opened');
END;
CREATE TRIGGER event_of_host AFTER INSERT ON hosts
BEGIN
  INSERT INTO events (detail, type) VALUES (new.host, 'host.blocked');
END;

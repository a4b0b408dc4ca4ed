CREATE TABLE links (
  code         TEXT    NOT NULL UNIQUE,
  created_ms   INTEGER NOT NULL,
  ends_ms      INTEGER,          -- NULL: never
  disabled     TEXT,             -- why; 'deleted' if only the code is kept. NULL for nearly all
  terms        TEXT,             -- JSON, see links/link.ts; NULL for nearly all
  target       TEXT,             -- NULL if it equals original_url
  original_url TEXT    NOT NULL
) STRICT;
CREATE TABLE changes (
  revision INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  code     TEXT    NOT NULL
) STRICT;
CREATE TABLE requests (
  key     TEXT    NOT NULL PRIMARY KEY,  -- keyed hashes of the client's key and of the body
  body    TEXT    NOT NULL,
  sent_ms INTEGER NOT NULL,
  made    TEXT    NOT NULL               -- JSON: for each link its number, code, created_ms and ends_ms
) STRICT, WITHOUT ROWID;
CREATE TABLE secrets (
  name   TEXT NOT NULL PRIMARY KEY,
  secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE visits (
  day        INTEGER NOT NULL,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL,   -- a code can be given again: counts belong to one link
  visits     INTEGER NOT NULL,
  bots       INTEGER NOT NULL,
  detail     BLOB,               -- see visits/detail.ts; NULL for day 0
  PRIMARY KEY (day, code, created_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE open_days (
  day        INTEGER NOT NULL PRIMARY KEY,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE sources (
  source   TEXT    NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL,
  rows     INTEGER NOT NULL,
  day      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE salts (
  day  INTEGER NOT NULL PRIMARY KEY,
  salt BLOB    NOT NULL
) STRICT;
CREATE TABLE hosts (
  host     TEXT    NOT NULL PRIMARY KEY,
  reason   TEXT    NOT NULL,
  since_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
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
, operator TEXT) STRICT;
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
  answered_ms INTEGER, target_ms INTEGER,
  PRIMARY KEY (code, created_ms)
) STRICT, WITHOUT ROWID;
CREATE TABLE notes (
  id         INTEGER NOT NULL PRIMARY KEY,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL,
  noted_ms   INTEGER NOT NULL,
  reason     TEXT    NOT NULL,
  note       BLOB    NOT NULL    -- UTF-8
) STRICT;
CREATE TABLE reporters (
  day        INTEGER NOT NULL,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL,
  reporter   TEXT    NOT NULL,
  PRIMARY KEY (day, code, created_ms, reporter)
) STRICT, WITHOUT ROWID;
CREATE TABLE counters (
  day   INTEGER NOT NULL,
  name  TEXT    NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (day, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  type       TEXT    NOT NULL,
  code       TEXT,                          -- NULL for a host
  created_ms INTEGER,
  detail     TEXT,                          -- the host, or why the link is disabled
  at_ms      INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  sent       INTEGER NOT NULL DEFAULT FALSE
, operator TEXT) STRICT;
CREATE TABLE event_sender (
  id           INTEGER NOT NULL PRIMARY KEY,
  owner        TEXT    NOT NULL,            -- the process that sends, '' if none does
  turn         INTEGER NOT NULL,            -- grows while the owner works
  types        TEXT    NOT NULL,            -- what to record, with a space around each type
  renewed      TEXT    NOT NULL,
  expired_ms   INTEGER NOT NULL,            -- links that ended up to here have their event
  expired_code TEXT    NOT NULL
, batch TEXT NOT NULL DEFAULT '[]') STRICT;
CREATE VIEW event_recording AS
SELECT types FROM event_sender
WHERE renewed > datetime('now', '-1 day')
  AND coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events), 0) < 200000;
CREATE TABLE refused_events (
  seq        INTEGER NOT NULL PRIMARY KEY,
  type       TEXT    NOT NULL,
  code       TEXT,
  created_ms INTEGER,
  detail     TEXT,
  at_ms      INTEGER NOT NULL
, operator TEXT) STRICT;
CREATE TABLE ended_sessions (
  session BLOB    NOT NULL PRIMARY KEY,
  ends_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE acting (
  operator TEXT NOT NULL
) STRICT;
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL AND disabled IS NULL;
CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;
CREATE INDEX requests_by_time ON requests (sent_ms);
CREATE INDEX sources_by_day ON sources (day);
CREATE INDEX journal_by_code ON journal (code) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host) WHERE host IS NOT NULL;
CREATE INDEX cases_by_report ON cases (is_open, last_ms, code, created_ms);
CREATE INDEX notes_by_case ON notes (code, created_ms, id);
CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
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
CREATE TRIGGER event_wanted BEFORE INSERT ON events
WHEN NOT EXISTS (SELECT 1 FROM event_recording WHERE types LIKE '% ' || new.type || ' %')
BEGIN SELECT raise(IGNORE); END;
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
CREATE TRIGGER event_of_operator AFTER INSERT ON events
WHEN new.type <> 'link.created' AND EXISTS (SELECT 1 FROM acting)
BEGIN
  UPDATE events SET operator = (SELECT operator FROM acting) WHERE seq = new.seq;
END;
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (1, 'plain', 1795703624392, NULL, NULL, NULL, 'https://example.com/plain?a=b#c', 'HTTPS://Example.com/plain?a=b#c');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (10, 'secret', 1795703624559, NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$VnV1W9KU5WbClGmbrI8Icc2Y3BZYbMAFip+GAtTDrq0$m1xsslhVlyHbbUWOwtds9krWfOrS9vTJ7KgLqlrqm9U"}', NULL, 'https://example.com/secret');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (11, 'later', 1795703624704, NULL, NULL, '{"startsMs":1795721624292}', NULL, 'https://example.com/later');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (12, 'moved', 1795703624705, NULL, NULL, '{"changedMs":1795703624709,"formerHost":"example.com","formerMs":4}', NULL, 'https://example.com/after');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (13, 'withdrawn', 1795703624712, 1795703624715, NULL, '{"ended":"withdrawn"}', NULL, 'https://example.com/withdrawn');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (14, 'again', 1795703624740, NULL, NULL, NULL, NULL, 'https://example.com/again');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (2, '한글날☕', 1795703624402, NULL, NULL, NULL, 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 'https://누리집.example/안내/오시는 길');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (3, '9LqBrfr', 1795703624503, NULL, NULL, NULL, NULL, 'https://example.com/generated');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (4, 'ends', 1795703624511, 1796308424511, NULL, NULL, NULL, 'https://example.com/ends');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (5, 'disabled', 1795703624514, NULL, 'spam', NULL, NULL, 'https://example.com/disabled');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (6, 'deleted', 1795703624516, NULL, 'deleted', NULL, NULL, '');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (7, 'reported', 1795703624518, NULL, NULL, NULL, NULL, 'https://example.com/reported');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (8, 'blocked', 1795703624519, NULL, NULL, NULL, NULL, 'https://sub.blocked.example/');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (9, 'limited', 1795703624553, NULL, NULL, '{"maxVisits":3,"visits":1}', NULL, 'https://example.com/limited');
INSERT INTO changes (rowid, revision, code) VALUES (1, 1, 'moved');
INSERT INTO changes (rowid, revision, code) VALUES (2, 2, 'withdrawn');
INSERT INTO changes (rowid, revision, code) VALUES (3, 3, 'disabled');
INSERT INTO changes (rowid, revision, code) VALUES (4, 4, '');
INSERT INTO changes (rowid, revision, code) VALUES (5, 5, 'deleted');
INSERT INTO requests (key, body, sent_ms, made) VALUES ('Evrzx6BzwMPeXdSU-C3bHA', 'zChyBcQlLzWY2bA7KPUgeA', 1795703624740, '[{"nth":0,"code":"again","createdMs":1795703624740,"endsMs":253402214400000}]');
INSERT INTO secrets (name, secret) VALUES ('instance', X'B2BE9C65EA09FF33D4B603E8A4A67B54328B5394123964B88C2968901426DA9C');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20783, 'disabled', 1795703624514, 2, 0, X'2180800102000243DCB96806022602020002020202020602020402020202');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20783, 'limited', 1795703624553, 1, 0, X'4EEC06EAA806260002060402');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20783, 'plain', 1795703624392, 3, 2, X'2180800103020275C1492E06022603020003020203020603020403020203');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20783, '한글날☕', 1795703624402, 1, 0, X'4E97E5401106260002060402');
INSERT INTO open_days (rowid, day, code, created_ms) VALUES (20783, 20783, '', 0);
INSERT INTO sources (source, sequence, rows, day) VALUES ('5a68794774f9254b', 1, 4, 20783);
INSERT INTO salts (rowid, day, salt) VALUES (20783, 20783, X'E9CCD17FC918FAF757AC3FF3FBE41A7D9E138B8C1AEA5C100D4FB40D1143AD73');
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795703624734);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host, operator) VALUES (1, 1, 1795703624723, 'api', 'disable', 'spam', X'277365656E27', 'disabled', 1795703624514, NULL, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host, operator) VALUES (2, 2, 1795703624734, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example', NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host, operator) VALUES (3, 3, 1795703624737, 'api', 'erase', NULL, NULL, 'deleted', 1795703624516, NULL, NULL);
INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms, target_ms) VALUES ('reported', 1795703624518, 1, 1795703624718, 1795703624718, 1, '{"phishing":1}', 1, NULL, NULL, NULL, NULL);
INSERT INTO notes (rowid, id, code, created_ms, noted_ms, reason, note) VALUES (1, 1, 'reported', 1795703624518, 1795703624718, 'phishing', X'EAB080ECA79C20EC9D80ED9689');
INSERT INTO reporters (day, code, created_ms, reporter) VALUES (20783, 'reported', 1795703624518, '45e3a1b78d55c85e');
INSERT INTO counters (day, name, count) VALUES (20783, 'bots', 2);
INSERT INTO counters (day, name, count) VALUES (20783, 'created', 14);
INSERT INTO counters (day, name, count) VALUES (20783, 'reports', 1);
INSERT INTO counters (day, name, count) VALUES (20783, 'visits', 7);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'events', 0);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (2, 'changes', 5);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (3, 'journal', 3);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 7;

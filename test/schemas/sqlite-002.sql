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
) STRICT;
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
  detail     TEXT,                          -- the host, or why a link was disabled
  at_ms      INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  sent       INTEGER NOT NULL DEFAULT FALSE
) STRICT;
CREATE TABLE event_sender (
  id           INTEGER NOT NULL PRIMARY KEY,
  owner        TEXT    NOT NULL,            -- the process that sends, '' if none does
  turn         INTEGER NOT NULL,            -- grows while the owner works
  types        TEXT    NOT NULL,            -- what to record, with a space around each type
  renewed      TEXT    NOT NULL,
  expired_ms   INTEGER NOT NULL,            -- links that ended up to here have their event
  expired_code TEXT    NOT NULL
) STRICT;
CREATE VIEW event_recording AS
SELECT types, expired_ms FROM event_sender
WHERE renewed > datetime('now', '-1 day')
  AND coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events), 0) < 200000;
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;
CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;
CREATE INDEX requests_by_time ON requests (sent_ms);
CREATE INDEX journal_by_code ON journal (code) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host) WHERE host IS NOT NULL;
CREATE INDEX cases_by_report ON cases (is_open, last_ms, code, created_ms);
CREATE INDEX notes_by_case ON notes (code, created_ms, id);
CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
CREATE TRIGGER links_close_case_if_purged AFTER DELETE ON links
BEGIN
  UPDATE cases SET is_open = 0, answer = 'erase', answered_ms = old.ends_ms, disabled_ms = NULL
  WHERE code = old.code AND created_ms = old.created_ms AND is_open = 1;
END;
CREATE TRIGGER links_close_case_if_replaced AFTER UPDATE OF created_ms ON links
BEGIN
  UPDATE cases SET is_open = 0, answer = 'erase', answered_ms = old.ends_ms, disabled_ms = NULL
  WHERE code = old.code AND created_ms = old.created_ms AND is_open = 1;
END;
CREATE TRIGGER event_link_disabled AFTER UPDATE OF disabled ON links
WHEN new.disabled IS NOT NULL AND new.disabled IS NOT old.disabled
BEGIN
  INSERT INTO events (type, code, created_ms, detail)
  SELECT 'link.disabled', new.code, new.created_ms, new.disabled
  FROM event_recording WHERE types LIKE '% link.disabled %';
END;
CREATE TRIGGER event_link_enabled AFTER UPDATE OF disabled ON links
WHEN new.disabled IS NULL AND old.disabled IS NOT NULL
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.enabled', new.code, new.created_ms FROM event_recording WHERE types LIKE '% link.enabled %';
END;
CREATE TRIGGER event_link_withdrawn AFTER UPDATE OF terms ON links
WHEN new.created_ms = old.created_ms AND new.terms LIKE '%"ended":"withdrawn"%'
  AND coalesce(old.terms, '') NOT LIKE '%"ended":%'
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.withdrawn', new.code, new.created_ms FROM event_recording WHERE types LIKE '% link.withdrawn %';
END;
CREATE TRIGGER event_link_used_up AFTER UPDATE OF terms ON links
WHEN new.created_ms = old.created_ms AND new.terms LIKE '%"ended":"visits"%'
  AND coalesce(old.terms, '') NOT LIKE '%"ended":%'
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.expired', new.code, new.created_ms FROM event_recording WHERE types LIKE '% link.expired %';
END;
CREATE TRIGGER event_link_changed AFTER UPDATE OF terms ON links
WHEN new.created_ms = old.created_ms AND new.disabled IS old.disabled AND coalesce(new.terms, '') NOT LIKE '%"ended":%'
  AND (new.original_url <> old.original_url OR new.ends_ms IS NOT old.ends_ms
    OR json_remove(coalesce(new.terms, '{}'), '$.visits') <> json_remove(coalesce(old.terms, '{}'), '$.visits'))
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.changed', new.code, new.created_ms FROM event_recording WHERE types LIKE '% link.changed %';
END;
CREATE TRIGGER event_link_purged AFTER DELETE ON links
WHEN coalesce(old.terms, '') NOT LIKE '%"ended":%' AND old.disabled IS NULL
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.expired', old.code, old.created_ms
  FROM event_recording WHERE types LIKE '% link.expired %' AND old.ends_ms >= expired_ms;
END;
CREATE TRIGGER event_link_replaced AFTER UPDATE OF created_ms ON links
WHEN new.created_ms <> old.created_ms AND coalesce(old.terms, '') NOT LIKE '%"ended":%'
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.expired', old.code, old.created_ms
  FROM event_recording WHERE types LIKE '% link.expired %' AND old.ends_ms >= expired_ms;
END;
CREATE TRIGGER event_report_opened AFTER INSERT ON cases WHEN new.is_open
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'report.opened', new.code, new.created_ms FROM event_recording WHERE types LIKE '% report.opened %';
END;
CREATE TRIGGER event_report_reopened AFTER UPDATE OF is_open ON cases WHEN new.is_open AND NOT old.is_open
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'report.opened', new.code, new.created_ms FROM event_recording WHERE types LIKE '% report.opened %';
END;
CREATE TRIGGER event_host_blocked AFTER INSERT ON hosts
BEGIN
  INSERT INTO events (type, detail) SELECT 'host.blocked', new.host FROM event_recording WHERE types LIKE '% host.blocked %';
END;
CREATE TRIGGER event_host_reblocked AFTER UPDATE OF reason ON hosts
BEGIN
  INSERT INTO events (type, detail) SELECT 'host.blocked', new.host FROM event_recording WHERE types LIKE '% host.blocked %';
END;
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (1, 'plain', 1795440610668, NULL, NULL, NULL, 'https://example.com/plain?a=b#c', 'HTTPS://Example.com/plain?a=b#c');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (10, 'secret', 1795440610802, NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$2YBi61S3VlZ2Jmy0IfZdcttgiTMombO5n+a0LAJk4+c$Z2Hn8BX+q6pcWr30EsdD2+dSnacpFSezBzi7qZxCsFI"}', NULL, 'https://example.com/secret');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (11, 'later', 1795440610868, NULL, NULL, '{"startsMs":1795458610349}', NULL, 'https://example.com/later');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (12, 'moved', 1795440610873, NULL, NULL, '{"changedMs":1795440610908,"formerHost":"example.com","formerMs":35}', NULL, 'https://example.com/after');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (13, 'withdrawn', 1795440610945, 1795440610990, NULL, '{"ended":"withdrawn"}', NULL, 'https://example.com/withdrawn');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (14, 'again', 1795440611122, NULL, NULL, NULL, NULL, 'https://example.com/again');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (2, '한글날☕', 1795440610704, NULL, NULL, NULL, 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 'https://누리집.example/안내/오시는 길');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (3, 'V5x3dbv', 1795440610770, NULL, NULL, NULL, NULL, 'https://example.com/generated');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (4, 'ends', 1795440610775, 1796045410775, NULL, NULL, NULL, 'https://example.com/ends');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (5, 'disabled', 1795440610776, NULL, 'spam', NULL, NULL, 'https://example.com/disabled');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (6, 'deleted', 1795440610777, NULL, 'deleted', NULL, NULL, '');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (7, 'reported', 1795440610778, NULL, NULL, NULL, NULL, 'https://example.com/reported');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (8, 'blocked', 1795440610779, NULL, NULL, NULL, NULL, 'https://sub.blocked.example/');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (9, 'limited', 1795440610793, NULL, NULL, '{"maxVisits":3,"visits":1}', NULL, 'https://example.com/limited');
INSERT INTO changes (rowid, revision, code) VALUES (1, 1, 'moved');
INSERT INTO changes (rowid, revision, code) VALUES (2, 2, 'withdrawn');
INSERT INTO changes (rowid, revision, code) VALUES (3, 3, 'disabled');
INSERT INTO changes (rowid, revision, code) VALUES (4, 4, '');
INSERT INTO changes (rowid, revision, code) VALUES (5, 5, 'deleted');
INSERT INTO requests (key, body, sent_ms, made) VALUES ('Yoz2gWG9GrLbO_oBecPl_g', 'uQaRlFm-YZTuyYQ-vMdGMw', 1795440611122, '[{"nth":0,"code":"again","createdMs":1795440611122,"endsMs":253402214400000}]');
INSERT INTO secrets (name, secret) VALUES ('instance', X'564EA77FB85386E2E96DB040ABC3453F051133A00EF2825BC00CA3B8F2C9B623');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'disabled', 1795440610776, 2, 0, X'21804002000280AC0B9D06022602020002020202020602020402020202');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'limited', 1795440610793, 1, 0, X'4D28B9A97706260002060402');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'plain', 1795440610668, 3, 2, X'218040030202AC8753A206022603020003020203020603020403020203');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, '한글날☕', 1795440610704, 1, 0, X'4D341D06A306260002060402');
INSERT INTO open_days (rowid, day, code, created_ms) VALUES (20780, 20780, '', 0);
INSERT INTO sources (source, sequence, rows, day) VALUES ('bdbc2a4d52cd0a2b', 1, 4, 20780);
INSERT INTO salts (rowid, day, salt) VALUES (20780, 20780, X'461F705B2AB16037ACFE0EE3A9FB635C95C532C6C02A5DFA057BC3F6C178754F');
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795440611099);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (1, 1, 1795440611044, 'api', 'disable', 'spam', X'277365656E27', 'disabled', 1795440610776, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (2, 2, 1795440611099, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example');
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (3, 3, 1795440611114, 'api', 'erase', NULL, NULL, 'deleted', 1795440610777, NULL);
INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms) VALUES ('reported', 1795440610778, 1, 1795440611005, 1795440611005, 1, '{"phishing":1}', 1, NULL, NULL, NULL);
INSERT INTO notes (rowid, id, code, created_ms, noted_ms, reason, note) VALUES (1, 1, 'reported', 1795440610778, 1795440611005, 'phishing', X'EAB080ECA79C20EC9D80ED9689');
INSERT INTO reporters (day, code, created_ms, reporter) VALUES (20780, 'reported', 1795440610778, 'bee29ec7590e5182');
INSERT INTO counters (day, name, count) VALUES (20780, 'bots', 2);
INSERT INTO counters (day, name, count) VALUES (20780, 'created', 14);
INSERT INTO counters (day, name, count) VALUES (20780, 'reports', 1);
INSERT INTO counters (day, name, count) VALUES (20780, 'visits', 7);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'events', 0);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (2, 'changes', 5);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (3, 'journal', 3);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 2;

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
  note       TEXT,
  code       TEXT,
  created_ms INTEGER,
  host       TEXT
) STRICT;
CREATE TABLE cases (
  id          INTEGER NOT NULL PRIMARY KEY,
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
  UNIQUE (code, created_ms)
) STRICT;
CREATE TABLE notes (
  id       INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  case_id  INTEGER NOT NULL,
  noted_ms INTEGER NOT NULL,
  reason   TEXT    NOT NULL,
  note     TEXT    NOT NULL
) STRICT;
CREATE TABLE reporters (
  day      INTEGER NOT NULL,
  case_id  INTEGER NOT NULL,
  reporter TEXT    NOT NULL,
  PRIMARY KEY (day, case_id, reporter)
) STRICT, WITHOUT ROWID;
CREATE TABLE counters (
  day   INTEGER NOT NULL,
  name  TEXT    NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (day, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;
CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;
CREATE INDEX requests_by_time ON requests (sent_ms);
CREATE INDEX journal_by_code ON journal (code) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host) WHERE host IS NOT NULL;
CREATE INDEX cases_by_report ON cases (is_open, last_ms);
CREATE INDEX notes_by_case ON notes (case_id);
CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (1, 'plain', 1795412091795, NULL, NULL, NULL, 'https://example.com/plain?a=b#c', 'HTTPS://Example.com/plain?a=b#c');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (10, 'secret', 1795412091866, NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$XgJMLCuMcKW/6yKglS0/GKb5Td5jpG4x4Yz8VzuQb3o$Sxvyv+W4v/68adNUVXft/jeYgBhFr0wDCUhQJAw0kn4"}', NULL, 'https://example.com/secret');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (11, 'later', 1795412091915, NULL, NULL, '{"startsMs":1795430091765}', NULL, 'https://example.com/later');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (12, 'moved', 1795412091921, NULL, NULL, '{"changedMs":1795412091954,"formerHost":"example.com","formerMs":33}', NULL, 'https://example.com/after');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (13, 'withdrawn', 1795412091958, 1795412091971, NULL, '{"ended":"withdrawn"}', NULL, 'https://example.com/withdrawn');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (14, 'again', 1795412092006, NULL, NULL, NULL, NULL, 'https://example.com/again');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (2, '한글날☕', 1795412091807, NULL, NULL, NULL, 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 'https://누리집.example/안내/오시는 길');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (3, 'wwWgtgH', 1795412091827, NULL, NULL, NULL, NULL, 'https://example.com/generated');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (4, 'ends', 1795412091829, 1796016891829, NULL, NULL, NULL, 'https://example.com/ends');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (5, 'disabled', 1795412091831, NULL, 'spam', NULL, NULL, 'https://example.com/disabled');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (6, 'deleted', 1795412091834, NULL, 'deleted', NULL, NULL, '');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (7, 'reported', 1795412091835, NULL, NULL, NULL, NULL, 'https://example.com/reported');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (8, 'blocked', 1795412091837, NULL, NULL, NULL, NULL, 'https://sub.blocked.example/');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (9, 'limited', 1795412091858, NULL, NULL, '{"maxVisits":3,"visits":1}', NULL, 'https://example.com/limited');
INSERT INTO changes (rowid, revision, code) VALUES (1, 1, 'moved');
INSERT INTO changes (rowid, revision, code) VALUES (2, 2, 'withdrawn');
INSERT INTO changes (rowid, revision, code) VALUES (3, 3, 'disabled');
INSERT INTO changes (rowid, revision, code) VALUES (4, 4, '');
INSERT INTO changes (rowid, revision, code) VALUES (5, 5, 'deleted');
INSERT INTO requests (key, body, sent_ms, made) VALUES ('J36_12_nd0PIXiFJSDqRHQ', 'HhfSIdUgligP3mtfExKnPw', 1795412092006, '[{"nth":0,"code":"again","createdMs":1795412092006,"endsMs":253402214400000}]');
INSERT INTO secrets (name, secret) VALUES ('instance', X'84EDC7C0E9F18FEC5E95705CC3750B0FF08CDE8B360EEFD5B30C66ADCAAF79F6');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'disabled', 1795412091831, 2, 0, X'2120020002DE6F87A306022602020002020202020602020402020202');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'limited', 1795412091858, 1, 0, X'45D9F48F0E06260002060402');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'plain', 1795412091795, 3, 2, X'2120030202EA8853B306022603020003020203020603020403020203');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, '한글날☕', 1795412091807, 1, 0, X'45DF83F59506260002060402');
INSERT INTO open_days (rowid, day, code, created_ms) VALUES (20780, 20780, '', 0);
INSERT INTO sources (source, sequence, rows, day) VALUES ('f3efc6bf6063e25f', 1, 4, 20780);
INSERT INTO salts (rowid, day, salt) VALUES (20780, 20780, X'5F5CBC46EFB7B2E2A8E1FDE12CB252C78E051A68651E3B7934577AB4F892DBF9');
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795412092001);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (1, 1, 1795412091978, 'api', 'disable', 'spam', '''seen''', 'disabled', 1795412091831, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (2, 2, 1795412092001, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example');
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (3, 3, 1795412092003, 'api', 'erase', NULL, NULL, 'deleted', 1795412091834, NULL);
INSERT INTO cases (rowid, id, code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms) VALUES (1, 1, 'reported', 1795412091835, 1, 1795412091974, 1795412091974, 1, '{"phishing":1}', 1, NULL, NULL, NULL);
INSERT INTO notes (rowid, id, case_id, noted_ms, reason, note) VALUES (1, 1, 1, 1795412091974, 'phishing', '가짜 은행');
INSERT INTO reporters (day, case_id, reporter) VALUES (20780, 1, 'f602331c5f9ac035');
INSERT INTO counters (day, name, count) VALUES (20780, 'bots', 2);
INSERT INTO counters (day, name, count) VALUES (20780, 'created', 14);
INSERT INTO counters (day, name, count) VALUES (20780, 'reports', 1);
INSERT INTO counters (day, name, count) VALUES (20780, 'visits', 7);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'changes', 5);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (2, 'notes', 1);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (3, 'journal', 3);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 1;

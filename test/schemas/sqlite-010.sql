CREATE TABLE links (
  code         TEXT    NOT NULL UNIQUE,
  original_url TEXT    NOT NULL,
  target       TEXT,             -- NULL where it equals original_url
  created_ms   INTEGER NOT NULL,
  ends_ms      INTEGER           -- NULL: never
, disabled TEXT) STRICT;
CREATE TABLE "old_visits" (
  day        INTEGER NOT NULL,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL,   -- a code can be given again: counts belong to one link
  visits     INTEGER NOT NULL,
  bots       INTEGER NOT NULL,
  stage      INTEGER NOT NULL,   -- 0: open, 1: visitors are numbers, 2: no hours either
  detail     TEXT,               -- JSON; NULL for day 0
  UNIQUE (day, code, created_ms)
) STRICT;
CREATE TABLE "sources" (
  source  TEXT    NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL,
  rows    INTEGER NOT NULL,
  day     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE salts (
  day  INTEGER NOT NULL PRIMARY KEY,
  salt BLOB    NOT NULL
) STRICT;
CREATE TABLE changes (
  revision   INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  code       TEXT    NOT NULL,
  created_ms INTEGER NOT NULL
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
CREATE TABLE sites (
  part  INTEGER NOT NULL,
  site  INTEGER NOT NULL,   -- 32 bits of a hash, see sites.ts
  place INTEGER NOT NULL,   -- the link's rowid is part * 32768 + place
  PRIMARY KEY (part, site, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE blocks (
  block     INTEGER NOT NULL PRIMARY KEY,
  oldest_ms INTEGER NOT NULL,
  newest_ms INTEGER NOT NULL
) STRICT;
CREATE TABLE counters (
  day   INTEGER NOT NULL,
  name  TEXT    NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (day, name)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE copied (
  source      TEXT    NOT NULL,
  progress    TEXT    NOT NULL,
  is_finished INTEGER NOT NULL
) STRICT;
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;
CREATE INDEX journal_by_code ON journal (code) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host) WHERE host IS NOT NULL;
CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;
CREATE INDEX cases_by_report ON cases (is_open, last_ms);
CREATE INDEX notes_by_case ON notes (case_id);
CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (1, 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', 1795344482554, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (2, '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 1795344482683, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (3, 'W4KyPHw', 'https://example.com/generated', NULL, 1795344482692, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (4, 'ends', 'https://example.com/ends', NULL, 1795344482696, 1795949282696, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (5, 'disabled', 'https://example.com/disabled', NULL, 1795344482706, NULL, 'spam');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (6, 'deleted', '', NULL, 1795344482711, NULL, 'deleted');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (7, 'reported', 'https://example.com/reported', NULL, 1795344482714, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (8, 'blocked', 'https://sub.blocked.example/', NULL, 1795344482719, NULL, NULL);
INSERT INTO sources (source, sequence, rows, day) VALUES ('c5c124a01b7ceda4', 1, 3, 20779);
INSERT INTO salts (rowid, day, salt) VALUES (20779, 20779, X'2A7F6FA16817C1606539695230534283AA4A0BCAC490FD53FA209FDEFDE07653');
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (1, 1, 'disabled', 1795344482706);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (2, 2, '', 0);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (3, 3, 'deleted', 1795344482711);
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795344482984);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (1, 1, 1795344482934, 'api', 'disable', 'spam', '''seen''', 'disabled', 1795344482706, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (2, 2, 1795344482984, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example');
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (3, 3, 1795344482988, 'api', 'erase', NULL, NULL, 'deleted', 1795344482711, NULL);
INSERT INTO counters (day, name, count) VALUES (20779, 'bots', 2);
INSERT INTO counters (day, name, count) VALUES (20779, 'created', 8);
INSERT INTO counters (day, name, count) VALUES (20779, 'reports', 1);
INSERT INTO counters (day, name, count) VALUES (20779, 'unknown', 5);
INSERT INTO counters (day, name, count) VALUES (20779, 'visits', 6);
INSERT INTO cases (rowid, id, code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms) VALUES (1, 1, 'reported', 1795344482714, 1, 1795344482784, 1795344482784, 1, '{"phishing":1}', 1, NULL, NULL, NULL);
INSERT INTO notes (rowid, id, case_id, noted_ms, reason, note) VALUES (1, 1, 1, 1795344482784, 'phishing', '가짜 은행');
INSERT INTO reporters (day, case_id, reporter) VALUES (20779, 1, '7ac08bf05c437992');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20779, 'disabled', 1795344482706, 2, 0, X'25800802000A022F7DA9D30124165C590300022602030002000203000202020300020602030002040203000202020300');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20779, 'plain', 1795344482554, 3, 2, X'25800803020A022D0489DF01FEBACFFA0300022603030002000303000202030300020603030002040303000202030300');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20779, '한글날☕', 1795344482683, 1, 0, X'4AF55F879B49B37867260002060402');
INSERT INTO open_days (rowid, day, code, created_ms) VALUES (20779, 20779, '', 0);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'notes', 1);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (2, 'changes', 3);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (3, 'journal', 3);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 10;

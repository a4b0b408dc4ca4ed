CREATE TABLE links (
  code         TEXT    NOT NULL UNIQUE,
  original_url TEXT    NOT NULL,
  target       TEXT,             -- NULL where it equals original_url
  created_ms   INTEGER NOT NULL,
  ends_ms      INTEGER           -- NULL: never
, disabled TEXT, terms TEXT) STRICT;
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
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;
CREATE INDEX journal_by_code ON journal (code) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host) WHERE host IS NOT NULL;
CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;
CREATE INDEX cases_by_report ON cases (is_open, last_ms);
CREATE INDEX notes_by_case ON notes (case_id);
CREATE INDEX requests_by_time ON requests (sent_ms);
CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (1, 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', 1795345147185, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (10, 'secret', 'https://example.com/secret', NULL, 1795345147330, NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$spnSASAq4HCaLUAZSujJNbqqf1ND3Z2PdOf+DUjM7gQ$nuRC+4snZ8t1Xr+RblCvABoFlBSvo1yqTfOoboLTY0Y"}');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (11, 'later', 'https://example.com/later', NULL, 1795345147537, NULL, NULL, '{"startsMs":1795363147141}');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (12, 'moved', 'https://example.com/after', NULL, 1795345147553, NULL, NULL, '{"changedMs":1795345147643,"formerHost":"example.com","formerMs":90}');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (13, 'withdrawn', 'https://example.com/withdrawn', NULL, 1795345147678, 1795345147705, NULL, '{"ended":"withdrawn"}');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (14, 'again', 'https://example.com/again', NULL, 1795345148049, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (2, '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 1795345147232, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (3, 'fcWnvzr', 'https://example.com/generated', NULL, 1795345147273, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (4, 'ends', 'https://example.com/ends', NULL, 1795345147275, 1795949947275, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (5, 'disabled', 'https://example.com/disabled', NULL, 1795345147276, NULL, 'spam', NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (6, 'deleted', '', NULL, 1795345147277, NULL, 'deleted', NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (7, 'reported', 'https://example.com/reported', NULL, 1795345147278, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (8, 'blocked', 'https://sub.blocked.example/', NULL, 1795345147279, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (9, 'limited', 'https://example.com/limited', NULL, 1795345147300, NULL, NULL, '{"maxVisits":3,"visits":1}');
INSERT INTO sources (source, sequence, rows, day) VALUES ('87c5f8b7d4144637', 1, 4, 20779);
INSERT INTO salts (rowid, day, salt) VALUES (20779, 20779, X'B58F9784B020D466C4D274544E0DA3E3B3F742A809CA814EAF137DE7136ABB0C');
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (1, 1, 'moved', 1795345147553);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (2, 2, 'withdrawn', 1795345147678);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (3, 3, 'disabled', 1795345147276);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (4, 4, '', 0);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (5, 5, 'deleted', 1795345147277);
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795345148014);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (1, 1, 1795345147928, 'api', 'disable', 'spam', '''seen''', 'disabled', 1795345147276, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (2, 2, 1795345148014, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example');
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (3, 3, 1795345148044, 'api', 'erase', NULL, NULL, 'deleted', 1795345147277, NULL);
INSERT INTO counters (day, name, count) VALUES (20779, 'bots', 2);
INSERT INTO counters (day, name, count) VALUES (20779, 'created', 14);
INSERT INTO counters (day, name, count) VALUES (20779, 'reports', 1);
INSERT INTO counters (day, name, count) VALUES (20779, 'visits', 7);
INSERT INTO cases (rowid, id, code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms) VALUES (1, 1, 'reported', 1795345147278, 1, 1795345147793, 1795345147793, 1, '{"phishing":1}', 1, NULL, NULL, NULL);
INSERT INTO notes (rowid, id, case_id, noted_ms, reason, note) VALUES (1, 1, 1, 1795345147793, 'phishing', '가짜 은행');
INSERT INTO reporters (day, case_id, reporter) VALUES (20779, 1, 'b1077a9ab9a8bbf8');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20779, 'disabled', 1795345147276, 2, 0, X'25800802000A02FAE4A8360100C3CAB30300022602030002000203000202020300020602030002040203000202020300');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20779, 'limited', 1795345147300, 1, 0, X'4A3AF9ECBE4C201FB2260002060402');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20779, 'plain', 1795345147185, 3, 2, X'25800803020A028FE2BD3F011F72FC630300022603030002000303000202030300020603030002040303000202030300');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20779, '한글날☕', 1795345147232, 1, 0, X'4A7C9BF3978DF00423260002060402');
INSERT INTO open_days (rowid, day, code, created_ms) VALUES (20779, 20779, '', 0);
INSERT INTO requests (key, body, sent_ms, made) VALUES ('wNgvShK80fH_WOl4hIjSDw', '3mJD7SUJFKtam_HfApNmzg', 1795345148049, '[{"nth":0,"code":"again","createdMs":1795345148049,"endsMs":253402214400000}]');
INSERT INTO secrets (name, secret) VALUES ('instance', X'8C97CB374DE86921339142E98963415E06FC3226F808FEE5F83072E1B4C5067C');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'changes', 5);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (2, 'notes', 1);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (3, 'journal', 3);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 11;

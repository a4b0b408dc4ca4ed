CREATE TABLE links (
  code         TEXT    NOT NULL UNIQUE,
  created_ms   INTEGER NOT NULL,
  ends_ms      INTEGER,          -- NULL: never
  disabled     TEXT,             -- why; 'deleted' if only the code is kept. NULL for nearly all
  terms        TEXT,             -- JSON, see links/link.ts; NULL for nearly all
  target       TEXT,             -- NULL if it equals original_url
  original_url TEXT    NOT NULL
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
CREATE TABLE copied (
  source      TEXT    NOT NULL,
  progress    TEXT    NOT NULL,
  is_finished INTEGER NOT NULL
) STRICT;
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
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (1, 'plain', 1795410272357, NULL, NULL, NULL, 'https://example.com/plain?a=b#c', 'HTTPS://Example.com/plain?a=b#c');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (10, 'secret', 1795410272428, NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$g4o7vzMSq9MEmAVcfu10TSt1oK40/JeaP9Hiwd7K3C0$0a1ZriaQbbncSuLgBdmPboleM4Hg5pyVznHySX5ZR84"}', NULL, 'https://example.com/secret');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (11, 'later', 1795410272523, NULL, NULL, '{"startsMs":1795428272327}', NULL, 'https://example.com/later');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (12, 'moved', 1795410272525, NULL, NULL, '{"changedMs":1795410272544,"formerHost":"example.com","formerMs":19}', NULL, 'https://example.com/after');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (13, 'withdrawn', 1795410272551, 1795410272561, NULL, '{"ended":"withdrawn"}', NULL, 'https://example.com/withdrawn');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (14, 'again', 1795410272610, NULL, NULL, NULL, NULL, 'https://example.com/again');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (2, '한글날☕', 1795410272371, NULL, NULL, NULL, 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 'https://누리집.example/안내/오시는 길');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (3, 'Qr9rVFW', 1795410272382, NULL, NULL, NULL, NULL, 'https://example.com/generated');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (4, 'ends', 1795410272384, 1796015072384, NULL, NULL, NULL, 'https://example.com/ends');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (5, 'disabled', 1795410272385, NULL, 'spam', NULL, NULL, 'https://example.com/disabled');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (6, 'deleted', 1795410272386, NULL, 'deleted', NULL, NULL, '');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (7, 'reported', 1795410272387, NULL, NULL, NULL, NULL, 'https://example.com/reported');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (8, 'blocked', 1795410272388, NULL, NULL, NULL, NULL, 'https://sub.blocked.example/');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (9, 'limited', 1795410272402, NULL, NULL, '{"maxVisits":3,"visits":1}', NULL, 'https://example.com/limited');
INSERT INTO changes (rowid, revision, code) VALUES (1, 1, 'moved');
INSERT INTO changes (rowid, revision, code) VALUES (2, 2, 'withdrawn');
INSERT INTO changes (rowid, revision, code) VALUES (3, 3, 'disabled');
INSERT INTO changes (rowid, revision, code) VALUES (4, 4, '');
INSERT INTO changes (rowid, revision, code) VALUES (5, 5, 'deleted');
INSERT INTO requests (key, body, sent_ms, made) VALUES ('oJLdqVq33j9wk3iWKm1bRw', 'P4hOx3NMAZOqA25WeMpDzQ', 1795410272610, '[{"nth":0,"code":"again","createdMs":1795410272610,"endsMs":253402214400000}]');
INSERT INTO secrets (name, secret) VALUES ('instance', X'C4F371F826C398C7B3620153E14FC532ABD53F18538335DB07CCF2EAC0DDBABC');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'disabled', 1795410272385, 2, 0, X'21200200021E1BF0F306022602020002020202020602020402020202');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'limited', 1795410272402, 1, 0, X'459A9F9CF706260002060402');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'plain', 1795410272357, 3, 2, X'21200302024DB7382906022603020003020203020603020403020203');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, '한글날☕', 1795410272371, 1, 0, X'450BA8B9BC06260002060402');
INSERT INTO open_days (rowid, day, code, created_ms) VALUES (20780, 20780, '', 0);
INSERT INTO sources (source, sequence, rows, day) VALUES ('5744fd97773dfc97', 1, 4, 20780);
INSERT INTO salts (rowid, day, salt) VALUES (20780, 20780, X'21AC4CF5D5D00018CBF5569B3DF63CF79E320C86FA0FCE2F167FDAA789F261B2');
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795410272593);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (1, 1, 1795410272584, 'api', 'disable', 'spam', '''seen''', 'disabled', 1795410272385, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (2, 2, 1795410272593, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example');
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (3, 3, 1795410272604, 'api', 'erase', NULL, NULL, 'deleted', 1795410272386, NULL);
INSERT INTO cases (rowid, id, code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms) VALUES (1, 1, 'reported', 1795410272387, 1, 1795410272568, 1795410272568, 1, '{"phishing":1}', 1, NULL, NULL, NULL);
INSERT INTO notes (rowid, id, case_id, noted_ms, reason, note) VALUES (1, 1, 1, 1795410272568, 'phishing', '가짜 은행');
INSERT INTO reporters (day, case_id, reporter) VALUES (20780, 1, 'e6314dc2cff92c4e');
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

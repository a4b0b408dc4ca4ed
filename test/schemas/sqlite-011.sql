CREATE TABLE links (
  code         TEXT    NOT NULL UNIQUE,
  original_url TEXT    NOT NULL,
  target       TEXT,             -- NULL where it equals original_url
  created_ms   INTEGER NOT NULL,
  ends_ms      INTEGER           -- NULL: never
, disabled TEXT, terms TEXT) STRICT;
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
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (1, 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', 1795407348046, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (10, 'secret', 'https://example.com/secret', NULL, 1795407348094, NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$4Rb3rfoBOBpbB3hP7GIQ7W6k+JuBg0Iq9cUUha/vVqM$FISq4H8hy/h26m+SUidJRSheKwwsrdSFGEDdqVPxq1E"}');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (11, 'later', 'https://example.com/later', NULL, 1795407348137, NULL, NULL, '{"startsMs":1795425348030}');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (12, 'moved', 'https://example.com/after', NULL, 1795407348139, NULL, NULL, '{"changedMs":1795407348147,"formerHost":"example.com","formerMs":8}');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (13, 'withdrawn', 'https://example.com/withdrawn', NULL, 1795407348150, 1795407348152, NULL, '{"ended":"withdrawn"}');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (14, 'again', 'https://example.com/again', NULL, 1795407348171, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (2, '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 1795407348057, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (3, 'g55b9ty', 'https://example.com/generated', NULL, 1795407348064, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (4, 'ends', 'https://example.com/ends', NULL, 1795407348066, 1796012148066, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (5, 'disabled', 'https://example.com/disabled', NULL, 1795407348066, NULL, 'spam', NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (6, 'deleted', '', NULL, 1795407348067, NULL, 'deleted', NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (7, 'reported', 'https://example.com/reported', NULL, 1795407348068, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (8, 'blocked', 'https://sub.blocked.example/', NULL, 1795407348069, NULL, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled, terms) VALUES (9, 'limited', 'https://example.com/limited', NULL, 1795407348081, NULL, NULL, '{"maxVisits":3,"visits":1}');
INSERT INTO sources (source, sequence, rows, day) VALUES ('482960d934ebc9f0', 1, 4, 20780);
INSERT INTO salts (rowid, day, salt) VALUES (20780, 20780, X'5CB14DD10FA596BEF8799494A7F68F59FBF214830CC3A539870A14223C56980E');
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (1, 1, 'moved', 1795407348139);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (2, 2, 'withdrawn', 1795407348150);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (3, 3, 'disabled', 1795407348066);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (4, 4, '', 0);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (5, 5, 'deleted', 1795407348067);
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795407348166);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (1, 1, 1795407348158, 'api', 'disable', 'spam', '''seen''', 'disabled', 1795407348066, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (2, 2, 1795407348166, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example');
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (3, 3, 1795407348168, 'api', 'erase', NULL, NULL, 'deleted', 1795407348067, NULL);
INSERT INTO counters (day, name, count) VALUES (20780, 'bots', 2);
INSERT INTO counters (day, name, count) VALUES (20780, 'created', 14);
INSERT INTO counters (day, name, count) VALUES (20780, 'reports', 1);
INSERT INTO counters (day, name, count) VALUES (20780, 'visits', 7);
INSERT INTO cases (rowid, id, code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms) VALUES (1, 1, 'reported', 1795407348068, 1, 1795407348155, 1795407348155, 1, '{"phishing":1}', 1, NULL, NULL, NULL);
INSERT INTO notes (rowid, id, case_id, noted_ms, reason, note) VALUES (1, 1, 1, 1795407348155, 'phishing', '가짜 은행');
INSERT INTO reporters (day, case_id, reporter) VALUES (20780, 1, '297a4148f84c0dae');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'disabled', 1795407348066, 2, 0, X'2110020002025E2DA706022602020002020202020602020402020202');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'limited', 1795407348081, 1, 0, X'44C8F814A406260002060402');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'plain', 1795407348046, 3, 2, X'21100302024D5C9C9006022603020003020203020603020403020203');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, '한글날☕', 1795407348057, 1, 0, X'4443CB9FD306260002060402');
INSERT INTO open_days (rowid, day, code, created_ms) VALUES (20780, 20780, '', 0);
INSERT INTO requests (key, body, sent_ms, made) VALUES ('Lr_KSswMTqHkolYxLCrcEw', 'xJOJ3V8p4VQz5oQ0eC7Txg', 1795407348170, '[{"nth":0,"code":"again","createdMs":1795407348171,"endsMs":253402214400000}]');
INSERT INTO secrets (name, secret) VALUES ('instance', X'31ADDDA50C2898CE03678E9B75AE1A4A09A3A9F735DF5DD709ABE15C053B1ECE');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'changes', 5);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (2, 'notes', 1);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (3, 'journal', 3);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 11;

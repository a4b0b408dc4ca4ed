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
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL AND disabled IS NULL;
CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;
CREATE INDEX requests_by_time ON requests (sent_ms);
CREATE INDEX journal_by_code ON journal (code) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host) WHERE host IS NOT NULL;
CREATE INDEX cases_by_report ON cases (is_open, last_ms, code, created_ms);
CREATE INDEX notes_by_case ON notes (code, created_ms, id);
CREATE INDEX sources_by_day ON sources (day);
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
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (1, 'plain', 1795419131209, NULL, NULL, NULL, 'https://example.com/plain?a=b#c', 'HTTPS://Example.com/plain?a=b#c');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (10, 'secret', 1795419131311, NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$sj199FODIK6CsHzjKI6gZI+BismklC07mkG6vcXEv2k$eajkQ5MLLBsReFV3/WeJ9KGEtV5wCwlnyggZNa8mFb4"}', NULL, 'https://example.com/secret');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (11, 'later', 1795419131430, NULL, NULL, '{"startsMs":1795437131175}', NULL, 'https://example.com/later');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (12, 'moved', 1795419131434, NULL, NULL, '{"changedMs":1795419131458,"formerHost":"example.com","formerMs":24}', NULL, 'https://example.com/after');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (13, 'withdrawn', 1795419131461, 1795419131469, NULL, '{"ended":"withdrawn"}', NULL, 'https://example.com/withdrawn');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (14, 'again', 1795419131569, NULL, NULL, NULL, NULL, 'https://example.com/again');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (2, '한글날☕', 1795419131245, NULL, NULL, NULL, 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 'https://누리집.example/안내/오시는 길');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (3, 'HrRwNtL', 1795419131277, NULL, NULL, NULL, NULL, 'https://example.com/generated');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (4, 'ends', 1795419131280, 1796023931280, NULL, NULL, NULL, 'https://example.com/ends');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (5, 'disabled', 1795419131282, NULL, 'spam', NULL, NULL, 'https://example.com/disabled');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (6, 'deleted', 1795419131286, NULL, 'deleted', NULL, NULL, '');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (7, 'reported', 1795419131291, NULL, NULL, NULL, NULL, 'https://example.com/reported');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (8, 'blocked', 1795419131292, NULL, NULL, NULL, NULL, 'https://sub.blocked.example/');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (9, 'limited', 1795419131307, NULL, NULL, '{"maxVisits":3,"visits":1}', NULL, 'https://example.com/limited');
INSERT INTO changes (rowid, revision, code) VALUES (1, 1, 'moved');
INSERT INTO changes (rowid, revision, code) VALUES (2, 2, 'withdrawn');
INSERT INTO changes (rowid, revision, code) VALUES (3, 3, 'disabled');
INSERT INTO changes (rowid, revision, code) VALUES (4, 4, '');
INSERT INTO changes (rowid, revision, code) VALUES (5, 5, 'deleted');
INSERT INTO requests (key, body, sent_ms, made) VALUES ('v68NR4wBX6gnRdhE80F_Zw', 'DqwL75WVYOs6BQSv41YdCA', 1795419131569, '[{"nth":0,"code":"again","createdMs":1795419131569,"endsMs":253402214400000}]');
INSERT INTO secrets (name, secret) VALUES ('instance', X'5885B0EEF54F8498C87560AF872E0FD30D78CE752F08BA5AE818AC602C0F1129');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'disabled', 1795419131282, 2, 0, X'21800102000288326D0E06022602020002020202020602020402020202');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'limited', 1795419131307, 1, 0, X'47AC84935A06260002060402');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, 'plain', 1795419131209, 3, 2, X'2180010302026E868D7E06022603020003020203020603020403020203');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20780, '한글날☕', 1795419131245, 1, 0, X'47D57A226206260002060402');
INSERT INTO open_days (rowid, day, code, created_ms) VALUES (20780, 20780, '', 0);
INSERT INTO sources (source, sequence, rows, day) VALUES ('552e72d0bfc60c33', 1, 4, 20780);
INSERT INTO salts (rowid, day, salt) VALUES (20780, 20780, X'AF7EC07604EE3F483E7BEC39AD6D45CAC3A535146B25D581EC95A745AE50BCF6');
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795419131562);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (1, 1, 1795419131543, 'api', 'disable', 'spam', X'277365656E27', 'disabled', 1795419131282, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (2, 2, 1795419131562, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example');
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (3, 3, 1795419131567, 'api', 'erase', NULL, NULL, 'deleted', 1795419131286, NULL);
INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms) VALUES ('reported', 1795419131291, 1, 1795419131523, 1795419131523, 1, '{"phishing":1}', 1, NULL, NULL, NULL);
INSERT INTO notes (rowid, id, code, created_ms, noted_ms, reason, note) VALUES (1, 1, 'reported', 1795419131291, 1795419131523, 'phishing', X'EAB080ECA79C20EC9D80ED9689');
INSERT INTO reporters (day, code, created_ms, reporter) VALUES (20780, 'reported', 1795419131291, '2c8767416d796542');
INSERT INTO counters (day, name, count) VALUES (20780, 'bots', 2);
INSERT INTO counters (day, name, count) VALUES (20780, 'created', 14);
INSERT INTO counters (day, name, count) VALUES (20780, 'reports', 1);
INSERT INTO counters (day, name, count) VALUES (20780, 'visits', 7);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'changes', 5);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (2, 'journal', 3);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 1;

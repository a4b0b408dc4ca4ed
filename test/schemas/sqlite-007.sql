CREATE TABLE links (
  code         TEXT    NOT NULL UNIQUE,
  original_url TEXT    NOT NULL,
  target       TEXT,             -- NULL where it equals original_url
  created_ms   INTEGER NOT NULL,
  ends_ms      INTEGER           -- NULL: never
, disabled TEXT) STRICT;
CREATE TABLE "visits" (
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
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;
CREATE INDEX visits_by_stage ON visits (stage, day) WHERE stage < 2;
CREATE INDEX journal_by_code ON journal (code) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host) WHERE host IS NOT NULL;
CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;
CREATE TRIGGER journal_keeps_rows BEFORE DELETE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
CREATE TRIGGER journal_keeps_values BEFORE UPDATE ON journal
BEGIN SELECT raise(ABORT, 'the journal only grows'); END;
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (1, 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', 1795344454384, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (2, '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 1795344454445, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (3, 'dKtpVYq', 'https://example.com/generated', NULL, 1795344454456, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (4, 'ends', 'https://example.com/ends', NULL, 1795344454470, 1795949254470, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (5, 'disabled', 'https://example.com/disabled', NULL, 1795344454471, NULL, 'spam');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (6, 'deleted', '', NULL, 1795344454476, NULL, 'deleted');
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (7, 'reported', 'https://example.com/reported', NULL, 1795344454483, NULL, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms, disabled) VALUES (8, 'blocked', 'https://sub.blocked.example/', NULL, 1795344454485, NULL, NULL);
INSERT INTO visits (rowid, day, code, created_ms, visits, bots, stage, detail) VALUES (1, 20779, 'disabled', 1795344454471, 2, 0, 0, '{"hours":{"10":[2,0]},"visitors":[],"networks":[],"values":{},"others":{},"last":{"hour":10,"visitors":[1613382681],"networks":[4145548945],"values":{"referrers":[["search.naver.com",2,[4145548945]]],"countries":[["",2,[4145548945]]],"browsers":[["Chrome",2,[4145548945]]],"operating_systems":[["Windows",2,[4145548945]]],"devices":[["desktop",2,[4145548945]]],"languages":[["ko",2,[4145548945]]]},"others":{}}}');
INSERT INTO visits (rowid, day, code, created_ms, visits, bots, stage, detail) VALUES (2, 20779, 'plain', 1795344454384, 3, 2, 0, '{"hours":{"10":[3,2]},"visitors":[],"networks":[],"values":{},"others":{},"last":{"hour":10,"visitors":[1284112430],"networks":[1505346382],"values":{"referrers":[["search.naver.com",3,[1505346382]]],"countries":[["",3,[1505346382]]],"browsers":[["Chrome",3,[1505346382]]],"operating_systems":[["Windows",3,[1505346382]]],"devices":[["desktop",3,[1505346382]]],"languages":[["ko",3,[1505346382]]]},"others":{}}}');
INSERT INTO visits (rowid, day, code, created_ms, visits, bots, stage, detail) VALUES (3, 20779, '한글날☕', 1795344454445, 1, 0, 0, '{"hours":{"10":[1,0]},"visitors":[],"networks":[],"values":{},"others":{},"last":{"hour":10,"visitors":[3494297496],"networks":[3907974091],"values":{"referrers":[["search.naver.com",1,[3907974091]]],"countries":[["",1,[3907974091]]],"browsers":[["Chrome",1,[3907974091]]],"operating_systems":[["Windows",1,[3907974091]]],"devices":[["desktop",1,[3907974091]]],"languages":[["ko",1,[3907974091]]]},"others":{}}}');
INSERT INTO sources (source, sequence, rows, day) VALUES ('4707bd94140bfd7c', 1, 3, 20779);
INSERT INTO salts (rowid, day, salt) VALUES (20779, 20779, X'67D2D9E140C79308F9DD18002FB00CD07CF2DA3AE8968C2E1892775D1F93B34E');
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (1, 1, 'disabled', 1795344454471);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (2, 2, '', 0);
INSERT INTO changes (rowid, revision, code, created_ms) VALUES (3, 3, 'deleted', 1795344454476);
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795344455285);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (1, 1, 1795344455285, 'api', 'disable', 'spam', '''seen''', 'disabled', 1795344454471, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (2, 2, 1795344455285, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example');
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host) VALUES (3, 3, 1795344455285, 'api', 'erase', NULL, NULL, 'deleted', 1795344454476, NULL);
INSERT INTO counters (day, name, count) VALUES (20779, 'bots', 2);
INSERT INTO counters (day, name, count) VALUES (20779, 'created', 8);
INSERT INTO counters (day, name, count) VALUES (20779, 'visits', 6);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'changes', 3);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (2, 'journal', 3);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 7;

CREATE TABLE links (
  code         TEXT    NOT NULL UNIQUE,
  original_url TEXT    NOT NULL,
  target       TEXT,             -- NULL where it equals original_url
  created_ms   INTEGER NOT NULL,
  ends_ms      INTEGER           -- NULL: never
) STRICT;
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
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;
CREATE INDEX visits_by_stage ON visits (stage, day) WHERE stage < 2;
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (1, 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', 1795344441947, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (2, '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 1795344442082, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (3, 'gGgg8Dv', 'https://example.com/generated', NULL, 1795344442146, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (4, 'ends', 'https://example.com/ends', NULL, 1795344442167, 1795949242167);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (5, 'disabled', 'https://example.com/disabled', NULL, 1795344442190, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (6, 'deleted', 'https://example.com/deleted', NULL, 1795344442199, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (7, 'reported', 'https://example.com/reported', NULL, 1795344442201, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (8, 'blocked', 'https://sub.blocked.example/', NULL, 1795344442209, NULL);
INSERT INTO visits (rowid, day, code, created_ms, visits, bots, stage, detail) VALUES (1, 20779, 'plain', 1795344441947, 3, 2, 0, '{"hours":{"10":[3,2]},"visitors":[],"networks":[],"values":{},"others":{},"last":{"hour":10,"visitors":[1157640575],"networks":[3492755953],"values":{"referrers":[["search.naver.com",3,[3492755953]]],"countries":[["",3,[3492755953]]],"browsers":[["Chrome",3,[3492755953]]],"operating_systems":[["Windows",3,[3492755953]]],"devices":[["desktop",3,[3492755953]]],"languages":[["ko",3,[3492755953]]]},"others":{}}}');
INSERT INTO visits (rowid, day, code, created_ms, visits, bots, stage, detail) VALUES (2, 20779, 'disabled', 1795344442190, 2, 0, 0, '{"hours":{"10":[2,0]},"visitors":[],"networks":[],"values":{},"others":{},"last":{"hour":10,"visitors":[2963586900],"networks":[168907871],"values":{"referrers":[["search.naver.com",2,[168907871]]],"countries":[["",2,[168907871]]],"browsers":[["Chrome",2,[168907871]]],"operating_systems":[["Windows",2,[168907871]]],"devices":[["desktop",2,[168907871]]],"languages":[["ko",2,[168907871]]]},"others":{}}}');
INSERT INTO visits (rowid, day, code, created_ms, visits, bots, stage, detail) VALUES (3, 20779, '한글날☕', 1795344442082, 1, 0, 0, '{"hours":{"10":[1,0]},"visitors":[],"networks":[],"values":{},"others":{},"last":{"hour":10,"visitors":[3572215678],"networks":[2775727365],"values":{"referrers":[["search.naver.com",1,[2775727365]]],"countries":[["",1,[2775727365]]],"browsers":[["Chrome",1,[2775727365]]],"operating_systems":[["Windows",1,[2775727365]]],"devices":[["desktop",1,[2775727365]]],"languages":[["ko",1,[2775727365]]]},"others":{}}}');
INSERT INTO sources (source, sequence, rows, day) VALUES ('75a9856dfe705128', 2, 3, 20779);
INSERT INTO salts (rowid, day, salt) VALUES (20779, 20779, X'37FA1687C5D4B43FA933E57D6E3BEAE7319EA3D2F687FF044C93AE54915226E6');
PRAGMA application_id = 1131770484;
PRAGMA user_version = 5;

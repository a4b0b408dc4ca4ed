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
CREATE TABLE journals (
  journal  TEXT    NOT NULL PRIMARY KEY,
  sequence INTEGER NOT NULL,
  links    INTEGER NOT NULL,
  hour     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE salts (
  day  INTEGER NOT NULL PRIMARY KEY,
  salt BLOB    NOT NULL
) STRICT;
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;
CREATE INDEX visits_by_stage ON visits (stage, day) WHERE stage < 2;
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (1, 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', 1795344431038, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (2, '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 1795344431059, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (3, 'hYrwLgM', 'https://example.com/generated', NULL, 1795344431078, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (4, 'ends', 'https://example.com/ends', NULL, 1795344431080, 1795949231080);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (5, 'disabled', 'https://example.com/disabled', NULL, 1795344431082, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (6, 'deleted', 'https://example.com/deleted', NULL, 1795344431083, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (7, 'reported', 'https://example.com/reported', NULL, 1795344431087, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (8, 'blocked', 'https://sub.blocked.example/', NULL, 1795344431104, NULL);
INSERT INTO visits (rowid, day, code, created_ms, visits, bots, stage, detail) VALUES (1, 20779, 'disabled', 1795344431082, 2, 0, 0, '{"visitors":[2420902957],"values":{"referrers":[["search.naver.com",2,[2420902957]]],"countries":[["",2,[2420902957]]],"browsers":[["Chrome",2,[2420902957]]],"operating_systems":[["Windows",2,[2420902957]]],"devices":[["desktop",2,[2420902957]]],"languages":[["ko",2,[2420902957]]]},"others":{},"hours":{"10":[2,0]}}');
INSERT INTO visits (rowid, day, code, created_ms, visits, bots, stage, detail) VALUES (2, 20779, 'plain', 1795344431038, 3, 2, 0, '{"visitors":[2420902957],"values":{"referrers":[["search.naver.com",3,[2420902957]]],"countries":[["",3,[2420902957]]],"browsers":[["Chrome",3,[2420902957]]],"operating_systems":[["Windows",3,[2420902957]]],"devices":[["desktop",3,[2420902957]]],"languages":[["ko",3,[2420902957]]]},"others":{},"hours":{"10":[3,2]}}');
INSERT INTO visits (rowid, day, code, created_ms, visits, bots, stage, detail) VALUES (3, 20779, '한글날☕', 1795344431059, 1, 0, 0, '{"visitors":[2420902957],"values":{"referrers":[["search.naver.com",1,[2420902957]]],"countries":[["",1,[2420902957]]],"browsers":[["Chrome",1,[2420902957]]],"operating_systems":[["Windows",1,[2420902957]]],"devices":[["desktop",1,[2420902957]]],"languages":[["ko",1,[2420902957]]]},"others":{},"hours":{"10":[1,0]}}');
INSERT INTO journals (journal, sequence, links, hour) VALUES ('3fb3734b1a999e3e', 1, 3, 498706);
INSERT INTO salts (rowid, day, salt) VALUES (20779, 20779, X'CED86D1137A2A60B11B4B3602D784E28E66F91F3DACD9FBB01B81C26C7074B5A');
PRAGMA application_id = 1131770484;
PRAGMA user_version = 3;

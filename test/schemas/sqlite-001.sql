CREATE TABLE links (
  code         TEXT    NOT NULL UNIQUE,
  original_url TEXT    NOT NULL,
  target       TEXT,             -- NULL where it equals original_url
  created_ms   INTEGER NOT NULL,
  ends_ms      INTEGER           -- NULL: never
) STRICT;
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (1, 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', 1795344424415, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (2, '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 1795344424461, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (3, 'ZXXGgdS', 'https://example.com/generated', NULL, 1795344424544, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (4, 'ends', 'https://example.com/ends', NULL, 1795344424552, 1795949224552);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (5, 'disabled', 'https://example.com/disabled', NULL, 1795344424558, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (6, 'deleted', 'https://example.com/deleted', NULL, 1795344424561, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (7, 'reported', 'https://example.com/reported', NULL, 1795344424562, NULL);
INSERT INTO links (rowid, code, original_url, target, created_ms, ends_ms) VALUES (8, 'blocked', 'https://sub.blocked.example/', NULL, 1795344424565, NULL);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 1;

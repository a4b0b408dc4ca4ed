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
  host       TEXT,
  operator   TEXT                          -- a name, if the token or the proxy gives one
, links INTEGER, undoes INTEGER) STRICT;
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
  target_ms   INTEGER,           -- when the link got the target that was answered or disabled: a later one opens the case again
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
CREATE TABLE ended_sessions (
  session BLOB    NOT NULL PRIMARY KEY,
  ends_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  type       TEXT    NOT NULL,
  code       TEXT,                          -- NULL for a host
  created_ms INTEGER,
  detail     TEXT,                          -- the host, or why the link is disabled
  at_ms      INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  sent       INTEGER NOT NULL DEFAULT FALSE,
  operator   TEXT                           -- who decided it, as in the journal
) STRICT;
CREATE TABLE acting (
  operator TEXT NOT NULL
) STRICT;
CREATE TABLE refused_events (
  seq        INTEGER NOT NULL PRIMARY KEY,
  type       TEXT    NOT NULL,
  code       TEXT,
  created_ms INTEGER,
  detail     TEXT,
  at_ms      INTEGER NOT NULL,
  operator   TEXT
, next_ms INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE event_sender (
  id           INTEGER NOT NULL PRIMARY KEY,
  owner        TEXT    NOT NULL,            -- the process that sends, '' if none does
  turn         INTEGER NOT NULL,            -- grows while the owner works
  types        TEXT    NOT NULL,            -- what to record, with a space around each type
  renewed      TEXT    NOT NULL,
  expired_ms   INTEGER NOT NULL,            -- links that ended up to here have their event
  expired_code TEXT    NOT NULL,
  batch        TEXT    NOT NULL DEFAULT '[]' -- JSON: the last request's events, which another process sends again
) STRICT;
CREATE VIEW event_recording AS
SELECT types FROM event_sender
WHERE renewed > datetime('now', '-1 day')
  AND coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events), 0) < 200000;
CREATE TABLE replaced (
  entry       INTEGER NOT NULL,
  kind        TEXT    NOT NULL,  -- link, case or host
  subject     TEXT    NOT NULL,  -- a code or a host
  created_ms  INTEGER NOT NULL,  -- which link of the code; 0 for a host
  value       TEXT,              -- of links.disabled, cases.answer or hosts.reason; NULL: enabled, open or not blocked
  at_ms       INTEGER,           -- of cases.answered_ms or hosts.since_ms
  disabled_ms INTEGER,           -- as in cases
  target_ms   INTEGER,           -- as in cases
  pending     INTEGER,           -- as in cases
  undone_by   INTEGER, became TEXT,           -- the entry that restored it
  PRIMARY KEY (entry, kind, subject)
) STRICT, WITHOUT ROWID;
CREATE TABLE remembered_settings (
  name     TEXT    NOT NULL,
  value    TEXT    NOT NULL,
  since_ms INTEGER NOT NULL, -- 0: for the first value
  PRIMARY KEY (name, since_ms, value)
) STRICT, WITHOUT ROWID;
CREATE TABLE store (
  id TEXT NOT NULL PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL AND disabled IS NULL;
CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;
CREATE INDEX requests_by_time ON requests (sent_ms);
CREATE INDEX sources_by_day ON sources (day);
CREATE INDEX journal_by_code ON journal (code) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host) WHERE host IS NOT NULL;
CREATE INDEX cases_by_report ON cases (is_open, last_ms, code, created_ms);
CREATE INDEX notes_by_case ON notes (code, created_ms, id);
CREATE INDEX replaced_by_subject ON replaced (subject, kind, created_ms, entry);
CREATE INDEX refused_events_by_next ON refused_events (next_ms);
CREATE INDEX reports_by_seq ON events (seq) WHERE type = 'report.opened';
CREATE UNIQUE INDEX one_code_case ON remembered_settings (name) WHERE name = 'CODE_CASE';
CREATE INDEX links_by_owner ON links (terms ->> 'owner', substr(code, 1, instr(code, '/')), created_ms, code)
WHERE terms ->> 'owner' IS NOT NULL;
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
CREATE TRIGGER event_of_operator AFTER INSERT ON events
WHEN new.type <> 'link.created' AND EXISTS (SELECT 1 FROM acting)
BEGIN
  UPDATE events SET operator = (SELECT operator FROM acting) WHERE seq = new.seq;
END;
CREATE TRIGGER event_wanted BEFORE INSERT ON events
WHEN NOT EXISTS (SELECT 1 FROM event_recording WHERE types LIKE '% ' || new.type || ' %')
BEGIN SELECT raise(IGNORE); END;
CREATE TRIGGER event_of_case AFTER INSERT ON cases WHEN new.is_open
BEGIN
  INSERT INTO events (code, created_ms, type) VALUES (new.code, new.created_ms, 'report.opened');
END;
CREATE TRIGGER event_of_reopened_case AFTER UPDATE ON cases WHEN new.is_open AND NOT old.is_open
BEGIN
  INSERT INTO events (code, created_ms, type) VALUES (new.code, new.created_ms, 'report.opened');
END;
CREATE TRIGGER event_of_host AFTER INSERT ON hosts
BEGIN
  INSERT INTO events (detail, type) VALUES (new.host, 'host.blocked');
END;
CREATE TRIGGER event_of_purge AFTER DELETE ON links
WHEN old.terms ->> 'ended' IS NULL
  AND (old.ends_ms, old.code) > (SELECT expired_ms, expired_code FROM event_sender)
BEGIN
  INSERT INTO events (code, created_ms, type) VALUES (old.code, old.created_ms, 'link.expired');
END;
CREATE TRIGGER event_of_link AFTER UPDATE ON links
BEGIN
  INSERT INTO events (code, created_ms, detail, type) SELECT old.code, old.created_ms, new.disabled, CASE
    WHEN new.created_ms <> old.created_ms THEN iif(
      old.terms ->> 'ended' IS NULL AND (old.ends_ms, old.code) > (SELECT expired_ms, expired_code FROM event_sender),
      'link.expired', NULL)
    WHEN new.disabled IS NOT old.disabled THEN iif(new.disabled IS NULL, 'link.enabled', 'link.disabled')
    WHEN new.terms ->> 'ended' IS NOT old.terms ->> 'ended'
      THEN iif(new.terms ->> 'ended' = 'withdrawn', 'link.withdrawn', 'link.expired')
    WHEN new.original_url <> old.original_url OR new.ends_ms IS NOT old.ends_ms
      OR json_remove(coalesce(new.terms, '{}'), '$.visits') <> json_remove(coalesce(old.terms, '{}'), '$.visits')
      THEN 'link.changed'
  END;
END;
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (1, 'plain', 1795977980713, NULL, NULL, '{"createdBy":"club"}', 'https://example.com/plain?a=b#c', 'HTTPS://Example.com/plain?a=b#c');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (10, 'secret', 1795977980834, NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$5LYcvfQImM2xAEjQ6A0jhNDR8S7gQgL84mVfzpcYJG8$Uz1de4wyQhBq/TzmtAl8HLU5ueWOlE0WMgOH1Jmja1w","createdBy":"club"}', NULL, 'https://example.com/secret');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (11, 'passes-on', 1795977981004, NULL, NULL, '{"forwardQuery":true,"createdBy":"club"}', NULL, 'https://example.com/passes-on');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (12, 'later', 1795977981012, NULL, NULL, '{"startsMs":1795995980434,"createdBy":"club"}', NULL, 'https://example.com/later');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (13, 'moved', 1795977981016, NULL, NULL, '{"createdBy":"club","changedMs":1795977981033,"formerHost":"example.com","formerMs":17}', NULL, 'https://example.com/after');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (14, 'withdrawn', 1795977981042, 1795977981047, NULL, '{"createdBy":"club","ended":"withdrawn"}', NULL, 'https://example.com/withdrawn');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (15, 'again', 1795977981124, NULL, NULL, '{"createdBy":"club"}', NULL, 'https://example.com/again');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (2, '한글날☕', 1795977980739, NULL, NULL, '{"createdBy":"club"}', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', 'https://누리집.example/안내/오시는 길');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (3, 'nXCccQd', 1795977980767, NULL, NULL, '{"createdBy":"club"}', NULL, 'https://example.com/generated');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (4, 'ends', 1795977980771, 1796582780771, NULL, '{"createdBy":"club"}', NULL, 'https://example.com/ends');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (5, 'disabled', 1795977980781, NULL, 'spam', '{"createdBy":"club"}', NULL, 'https://example.com/disabled');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (6, 'deleted', 1795977980786, NULL, 'deleted', NULL, NULL, '');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (7, 'reported', 1795977980790, NULL, NULL, '{"createdBy":"club"}', NULL, 'https://example.com/reported');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (8, 'blocked', 1795977980793, NULL, NULL, '{"createdBy":"club"}', NULL, 'https://sub.blocked.example/');
INSERT INTO links (rowid, code, created_ms, ends_ms, disabled, terms, target, original_url) VALUES (9, 'limited', 1795977980820, NULL, NULL, '{"maxVisits":3,"createdBy":"club","visits":1}', NULL, 'https://example.com/limited');
INSERT INTO changes (rowid, revision, code) VALUES (1, 1, 'moved');
INSERT INTO changes (rowid, revision, code) VALUES (2, 2, 'withdrawn');
INSERT INTO changes (rowid, revision, code) VALUES (3, 3, 'disabled');
INSERT INTO changes (rowid, revision, code) VALUES (4, 4, '');
INSERT INTO changes (rowid, revision, code) VALUES (5, 5, 'deleted');
INSERT INTO requests (key, body, sent_ms, made) VALUES ('0am9rAuMiXqKBKVKMMjq-w', '7x8eELlhTg5CSjIkC6D2PQ', 1795977981124, '[{"nth":0,"code":"again","createdMs":1795977981124,"endsMs":253402214400000}]');
INSERT INTO secrets (name, secret) VALUES ('instance', X'3EB0AA5474CB6EEB858B660EE8A24CBB29D7B77581A5F6F222F4DE37AC08255B');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20786, 'disabled', 1795977980781, 2, 0, X'21808010020002E968F70506022602020002020202020602020402020202');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20786, 'limited', 1795977980820, 1, 0, X'52FE9B45D506260002060402');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20786, 'plain', 1795977980713, 3, 2, X'218080100302026790253C06022603020003020203020603020403020203');
INSERT INTO visits (day, code, created_ms, visits, bots, detail) VALUES (20786, '한글날☕', 1795977980739, 1, 0, X'5263ECE44A06260002060402');
INSERT INTO open_days (rowid, day, code, created_ms) VALUES (20786, 20786, '', 0);
INSERT INTO sources (source, sequence, rows, day) VALUES ('719c0bbc17836fb2', 1, 4, 20786);
INSERT INTO salts (rowid, day, salt) VALUES (20786, 20786, X'AB4C224DAD9E212D6A64391F3957FB54B8C88FEA106CC58B586EF77F28F76473');
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', 1795977981112);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host, operator, links, undoes) VALUES (1, 1, 1795977981094, 'api', 'disable', 'spam', X'277365656E27', 'disabled', 1795977980781, NULL, 'mina', 1, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host, operator, links, undoes) VALUES (2, 2, 1795977981112, 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example', 'mina', 0, NULL);
INSERT INTO journal (rowid, entry, at_ms, who, action, reason, note, code, created_ms, host, operator, links, undoes) VALUES (3, 3, 1795977981118, 'api', 'erase', NULL, NULL, 'deleted', 1795977980786, NULL, 'mina', 1, NULL);
INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms, target_ms) VALUES ('reported', 1795977980790, 1, 1795977981057, 1795977981057, 1, '{"phishing":1,"pending":{"phishing":1}}', 1, NULL, NULL, NULL, NULL);
INSERT INTO notes (rowid, id, code, created_ms, noted_ms, reason, note) VALUES (1, 1, 'reported', 1795977980790, 1795977981057, 'phishing', X'EAB080ECA79C20EC9D80ED9689');
INSERT INTO reporters (day, code, created_ms, reporter) VALUES (20786, 'reported', 1795977980790, '7478345a011aadb0');
INSERT INTO counters (day, name, count) VALUES (20786, 'bots', 2);
INSERT INTO counters (day, name, count) VALUES (20786, 'created', 15);
INSERT INTO counters (day, name, count) VALUES (20786, 'reports', 1);
INSERT INTO counters (day, name, count) VALUES (20786, 'visits', 7);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (1, 1, 'link.created', 'plain', 1795977980713, NULL, 1795977980728, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (10, 10, 'link.created', 'secret', 1795977980834, NULL, 1795977981001, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (11, 11, 'link.created', 'passes-on', 1795977981004, NULL, 1795977981006, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (12, 12, 'link.created', 'later', 1795977981012, NULL, 1795977981013, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (13, 13, 'link.created', 'moved', 1795977981016, NULL, 1795977981018, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (14, 14, 'link.changed', 'moved', 1795977981016, NULL, 1795977981035, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (15, 15, 'link.created', 'withdrawn', 1795977981042, NULL, 1795977981044, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (16, 16, 'link.withdrawn', 'withdrawn', 1795977981042, NULL, 1795977981048, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (17, 17, 'report.opened', 'reported', 1795977980790, NULL, 1795977981072, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (18, 18, 'link.disabled', 'disabled', 1795977980781, 'spam', 1795977981097, 0, 'mina');
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (19, 19, 'host.blocked', NULL, NULL, 'blocked.example', 1795977981114, 0, 'mina');
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (2, 2, 'link.created', '한글날☕', 1795977980739, NULL, 1795977980763, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (20, 20, 'link.disabled', 'deleted', 1795977980786, 'deleted', 1795977981119, 0, 'mina');
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (21, 21, 'link.created', 'again', 1795977981124, NULL, 1795977981125, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (3, 3, 'link.created', 'nXCccQd', 1795977980767, NULL, 1795977980768, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (4, 4, 'link.created', 'ends', 1795977980771, NULL, 1795977980772, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (5, 5, 'link.created', 'disabled', 1795977980781, NULL, 1795977980781, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (6, 6, 'link.created', 'deleted', 1795977980786, NULL, 1795977980786, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (7, 7, 'link.created', 'reported', 1795977980790, NULL, 1795977980791, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (8, 8, 'link.created', 'blocked', 1795977980793, NULL, 1795977980794, 0, NULL);
INSERT INTO events (rowid, seq, type, code, created_ms, detail, at_ms, sent, operator) VALUES (9, 9, 'link.created', 'limited', 1795977980820, NULL, 1795977980821, 0, NULL);
INSERT INTO event_sender (rowid, id, owner, turn, types, renewed, expired_ms, expired_code, batch) VALUES (1, 1, '', 0, ' report.opened link.created link.changed link.withdrawn link.expired link.disabled link.enabled host.blocked ', '2026-11-29 18:46:20', 1795977980301, '', '[]');
INSERT INTO replaced (entry, kind, subject, created_ms, value, at_ms, disabled_ms, target_ms, pending, undone_by, became) VALUES (1, 'link', 'disabled', 1795977980781, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO replaced (entry, kind, subject, created_ms, value, at_ms, disabled_ms, target_ms, pending, undone_by, became) VALUES (2, 'host', 'blocked.example', 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO replaced (entry, kind, subject, created_ms, value, at_ms, disabled_ms, target_ms, pending, undone_by, became) VALUES (3, 'link', 'deleted', 1795977980786, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO remembered_settings (name, value, since_ms) VALUES ('BASE_URL', 'go.example.com', 0);
INSERT INTO remembered_settings (name, value, since_ms) VALUES ('CODE_CASE', 'match', 1);
INSERT INTO remembered_settings (name, value, since_ms) VALUES ('STATS_KEEP', '400', 1795977980235);
INSERT INTO store (id) VALUES ('7267b835418db619aca5e13fb1b44d01');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (1, 'events', 21);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (2, 'changes', 5);
INSERT INTO sqlite_sequence (rowid, name, seq) VALUES (3, 'journal', 3);
PRAGMA application_id = 1131770484;
PRAGMA user_version = 9;

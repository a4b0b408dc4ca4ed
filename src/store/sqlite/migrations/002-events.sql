-- What happened to links and hosts, until it is sent to EVENTS_URL. The last ones that were sent stay for a while.
CREATE TABLE events (
  seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  type       TEXT    NOT NULL,
  code       TEXT,                          -- NULL for a host
  created_ms INTEGER,
  detail     TEXT,                          -- the host, or why a link was disabled
  at_ms      INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  sent       INTEGER NOT NULL DEFAULT FALSE
) STRICT;

-- At most one row, which a process with EVENTS_URL writes. It turns recording on.
CREATE TABLE event_sender (
  id           INTEGER NOT NULL PRIMARY KEY,
  owner        TEXT    NOT NULL,            -- the process that sends, '' if none does
  turn         INTEGER NOT NULL,            -- grows while the owner works
  types        TEXT    NOT NULL,            -- what to record, with a space around each type
  renewed      TEXT    NOT NULL,
  expired_ms   INTEGER NOT NULL,            -- links that ended up to here have their event
  expired_code TEXT    NOT NULL
) STRICT;

-- Ends the recording a day after the last process with EVENTS_URL, and before events fill the disk if nobody sends them.
CREATE VIEW event_recording AS
SELECT types, expired_ms FROM event_sender
WHERE renewed > datetime('now', '-1 day')
  AND coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events), 0) < 200000;

CREATE TRIGGER event_link_disabled AFTER UPDATE OF disabled ON links
WHEN new.disabled IS NOT NULL AND new.disabled IS NOT old.disabled
BEGIN
  INSERT INTO events (type, code, created_ms, detail)
  SELECT 'link.disabled', new.code, new.created_ms, new.disabled
  FROM event_recording WHERE types LIKE '% link.disabled %';
END;

CREATE TRIGGER event_link_enabled AFTER UPDATE OF disabled ON links
WHEN new.disabled IS NULL AND old.disabled IS NOT NULL
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.enabled', new.code, new.created_ms FROM event_recording WHERE types LIKE '% link.enabled %';
END;

CREATE TRIGGER event_link_withdrawn AFTER UPDATE OF terms ON links
WHEN new.created_ms = old.created_ms AND new.terms LIKE '%"ended":"withdrawn"%'
  AND coalesce(old.terms, '') NOT LIKE '%"ended":%'
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.withdrawn', new.code, new.created_ms FROM event_recording WHERE types LIKE '% link.withdrawn %';
END;

-- Its last visit was used.
CREATE TRIGGER event_link_used_up AFTER UPDATE OF terms ON links
WHEN new.created_ms = old.created_ms AND new.terms LIKE '%"ended":"visits"%'
  AND coalesce(old.terms, '') NOT LIKE '%"ended":%'
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.expired', new.code, new.created_ms FROM event_recording WHERE types LIKE '% link.expired %';
END;

-- A counted visit is no change.
CREATE TRIGGER event_link_changed AFTER UPDATE OF terms ON links
WHEN new.created_ms = old.created_ms AND new.disabled IS old.disabled AND coalesce(new.terms, '') NOT LIKE '%"ended":%'
  AND (new.original_url <> old.original_url OR new.ends_ms IS NOT old.ends_ms
    OR json_remove(coalesce(new.terms, '{}'), '$.visits') <> json_remove(coalesce(old.terms, '{}'), '$.visits'))
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.changed', new.code, new.created_ms FROM event_recording WHERE types LIKE '% link.changed %';
END;

-- Purged or replaced before the sender has seen that it expired.
CREATE TRIGGER event_link_purged AFTER DELETE ON links
WHEN coalesce(old.terms, '') NOT LIKE '%"ended":%' AND old.disabled IS NULL
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.expired', old.code, old.created_ms
  FROM event_recording WHERE types LIKE '% link.expired %' AND old.ends_ms >= expired_ms;
END;
CREATE TRIGGER event_link_replaced AFTER UPDATE OF created_ms ON links
WHEN new.created_ms <> old.created_ms AND coalesce(old.terms, '') NOT LIKE '%"ended":%'
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'link.expired', old.code, old.created_ms
  FROM event_recording WHERE types LIKE '% link.expired %' AND old.ends_ms >= expired_ms;
END;

CREATE TRIGGER event_report_opened AFTER INSERT ON cases WHEN new.is_open
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'report.opened', new.code, new.created_ms FROM event_recording WHERE types LIKE '% report.opened %';
END;
CREATE TRIGGER event_report_reopened AFTER UPDATE OF is_open ON cases WHEN new.is_open AND NOT old.is_open
BEGIN
  INSERT INTO events (type, code, created_ms)
  SELECT 'report.opened', new.code, new.created_ms FROM event_recording WHERE types LIKE '% report.opened %';
END;

CREATE TRIGGER event_host_blocked AFTER INSERT ON hosts
BEGIN
  INSERT INTO events (type, detail) SELECT 'host.blocked', new.host FROM event_recording WHERE types LIKE '% host.blocked %';
END;
CREATE TRIGGER event_host_reblocked AFTER UPDATE OF reason ON hosts
BEGIN
  INSERT INTO events (type, detail) SELECT 'host.blocked', new.host FROM event_recording WHERE types LIKE '% host.blocked %';
END;

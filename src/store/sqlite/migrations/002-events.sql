-- Events of links and hosts that wait for EVENTS_URL, and the last ones sent.
CREATE TABLE events (
  seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
  type       TEXT    NOT NULL,
  code       TEXT,                          -- NULL for a host
  created_ms INTEGER,
  detail     TEXT,                          -- the host, or why the link is disabled
  at_ms      INTEGER NOT NULL DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)),
  sent       INTEGER NOT NULL DEFAULT FALSE
) STRICT;

-- At most one row. A process with EVENTS_URL writes it, which turns recording on.
CREATE TABLE event_sender (
  id           INTEGER NOT NULL PRIMARY KEY,
  owner        TEXT    NOT NULL,            -- the process that sends, '' if none does
  turn         INTEGER NOT NULL,            -- grows while the owner works
  types        TEXT    NOT NULL,            -- what to record, with a space around each type
  renewed      TEXT    NOT NULL,
  expired_ms   INTEGER NOT NULL,            -- links that ended up to here have their event
  expired_code TEXT    NOT NULL
) STRICT;

-- Recording ends a day after the last process with EVENTS_URL, and before unsent events fill the disk.
CREATE VIEW event_recording AS
SELECT types FROM event_sender
WHERE renewed > datetime('now', '-1 day')
  AND coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events), 0) < 200000;

-- Ignores unwanted types. The triggers below insert changes that are no event without a type.
CREATE TRIGGER event_wanted BEFORE INSERT ON events
WHEN NOT EXISTS (SELECT 1 FROM event_recording WHERE types LIKE '% ' || new.type || ' %')
BEGIN SELECT raise(IGNORE); END;

-- A replaced link has expired, unless the sender has recorded that. A counted visit is no change.
CREATE TRIGGER event_of_link AFTER UPDATE ON links
BEGIN
  INSERT INTO events (code, created_ms, detail, type) SELECT old.code, old.created_ms, new.disabled, CASE
    WHEN new.created_ms <> old.created_ms THEN
      iif(old.terms ->> 'ended' IS NULL AND old.ends_ms >= (SELECT expired_ms FROM event_sender), 'link.expired', NULL)
    WHEN new.disabled IS NOT old.disabled THEN iif(new.disabled IS NULL, 'link.enabled', 'link.disabled')
    WHEN new.terms ->> 'ended' = 'withdrawn' THEN 'link.withdrawn'
    WHEN new.terms ->> 'ended' = 'visits' THEN 'link.expired'
    WHEN new.original_url <> old.original_url OR new.ends_ms IS NOT old.ends_ms
      OR json_remove(coalesce(new.terms, '{}'), '$.visits') <> json_remove(coalesce(old.terms, '{}'), '$.visits')
      THEN 'link.changed'
  END;
END;
CREATE TRIGGER event_of_purge AFTER DELETE ON links
WHEN old.terms ->> 'ended' IS NULL AND old.ends_ms >= (SELECT expired_ms FROM event_sender)
BEGIN
  INSERT INTO events (code, created_ms, type) VALUES (old.code, old.created_ms, 'link.expired');
END;

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

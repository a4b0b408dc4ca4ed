-- Events that EVENTS_URL refused. Not in `events`: recording ends when the numbers there span too many.
CREATE TABLE refused_events (
  seq        INTEGER NOT NULL PRIMARY KEY,
  type       TEXT    NOT NULL,
  code       TEXT,
  created_ms INTEGER,
  detail     TEXT,
  at_ms      INTEGER NOT NULL
) STRICT;

-- Events that EVENTS_URL refused. Not in `events`: recording ends when the numbers there span too many.
CREATE TABLE refused_events (
  seq        bigint NOT NULL PRIMARY KEY,
  created_ms bigint,
  at_ms      bigint NOT NULL,
  type       text   NOT NULL,
  code       text   COLLATE "C",
  detail     text   COLLATE "C"
);

-- A decision is one entry. Those of an earlier Curt, which may run for a moment longer, have no number of links and no values:
-- they can't be undone.
ALTER TABLE journal ADD COLUMN links INTEGER;  -- how many it is about
ALTER TABLE journal ADD COLUMN undoes INTEGER; -- the entry that this one undoes

-- What decisions replaced: a row for each link, case and host that one set, also to the same value.
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
  undone_by   INTEGER,           -- the entry that restored it
  PRIMARY KEY (entry, kind, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX replaced_by_subject ON replaced (subject, kind, created_ms, entry);

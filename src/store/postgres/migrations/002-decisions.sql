-- A decision is one entry. Those of an earlier Curt, which may run for a moment longer, have no number of links and no values:
-- they can't be undone.
ALTER TABLE journal ADD COLUMN links integer; -- how many it is about
ALTER TABLE journal ADD COLUMN undoes bigint; -- the entry that this one undoes

-- What decisions replaced: a row for each link, case and host that one set, also to the same value.
CREATE TABLE replaced (
  entry       bigint NOT NULL,
  kind        text   COLLATE "C" NOT NULL, -- link, case or host
  subject     text   COLLATE "C" NOT NULL, -- a code or a host
  created_ms  bigint NOT NULL,             -- which link of the code; 0 for a host
  value       text,                        -- of links.disabled, cases.answer or hosts.reason; NULL: enabled, open or not blocked
  at_ms       bigint,                      -- of cases.answered_ms or hosts.since_ms
  disabled_ms bigint,                      -- as in cases
  target_ms   bigint,                      -- as in cases
  pending     integer,                     -- as in cases
  undone_by   bigint,                      -- the entry that restored it
  PRIMARY KEY (entry, kind, subject)
);

CREATE INDEX replaced_by_subject ON replaced (subject, kind, created_ms, entry);

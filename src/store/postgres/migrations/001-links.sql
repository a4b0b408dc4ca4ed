CREATE TABLE links (
  code         text    COLLATE "C" NOT NULL PRIMARY KEY,
  original_url text    NOT NULL,
  target       text,             -- NULL where it equals original_url
  created_ms   bigint  NOT NULL,
  ends_ms      bigint,           -- NULL: never
  disabled     text              -- why; 'deleted' where only the code is kept. NULL for nearly all
);

-- The purge reads this; links without an end cost it nothing.
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;

-- Every change to an existing link. A change of the rules about hosts has an empty code. Read by the transactions that
-- made the changes: numbers or times that are drawn before a commit can be out of commit order.
CREATE TABLE changes (
  transaction xid8   NOT NULL DEFAULT pg_current_xact_id(),
  code        text   COLLATE "C" NOT NULL,
  created_ms  bigint NOT NULL,
  made_at     timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX changes_by_transaction ON changes (transaction);

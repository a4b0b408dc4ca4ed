-- Eight columns: with a ninth, every row would be eight bytes longer.
CREATE TABLE links (
  created_ms   bigint  NOT NULL,
  place        bigint  NOT NULL, -- newer links have higher ones: µs since 1970 by the primary's clock
  ends_ms      bigint,           -- NULL: never
  site         integer,          -- 32 bits of a hash, see guard/site.ts
  code         text    COLLATE "C" NOT NULL PRIMARY KEY,
  original_url text    NOT NULL,
  target       text,             -- NULL where it equals original_url
  disabled     text              -- why; 'deleted' where only the code is kept. NULL for nearly all
);

-- The purge reads this; links without an end cost it nothing.
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;

-- Only the operator's searches and figures read these, and a preview that asks whether a site is new.
CREATE INDEX links_by_place ON links (place);
CREATE INDEX links_by_time ON links (created_ms, code);
-- In parts of 2^35 µs, nine hours: all random writes go to the newest one, which stays in memory.
CREATE INDEX links_by_site ON links (((place >> 35)::integer), site, place);
CREATE INDEX links_by_disabled ON links (disabled, place) WHERE disabled IS NOT NULL;

-- About how many links were made in each hour (since 1970-01-01), so that nobody has to count them. Hours that are long
-- over are added up in hour 0.
CREATE TABLE link_counts (
  hour  integer NOT NULL PRIMARY KEY,
  links bigint  NOT NULL
);

-- Every change to an existing link. A change of the rules about hosts has an empty code. Read by the transactions that
-- made the changes: numbers or times that are drawn before a commit can be out of commit order.
CREATE TABLE changes (
  transaction xid8   NOT NULL DEFAULT pg_current_xact_id(),
  code        text   COLLATE "C" NOT NULL,
  created_ms  bigint NOT NULL,
  made_at     timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX changes_by_transaction ON changes (transaction);

-- The newest transaction whose changes were deleted.
CREATE TABLE forgotten_changes (
  transaction xid8 NOT NULL
);

INSERT INTO forgotten_changes VALUES ('0');

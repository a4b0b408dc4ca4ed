-- What one source counted of a link on one day (UTC, days since 1970-01-01). A source is the life of one process, and only
-- it adds to its rows. When the day is over, they are merged into one of them. The others stay for a while with nothing but
-- their sequence, so that no slice counts again. Day 0, with an empty source, holds what is too old to be told by day.
-- Numbers come first, because texts between them would have to be padded.
CREATE TABLE visits (
  created_ms bigint   NOT NULL,   -- a code can be given again: counts belong to one link
  sequence   bigint   NOT NULL,   -- the source's last that is part of this row
  visits     bigint   NOT NULL,
  bots       bigint   NOT NULL,
  day        integer  NOT NULL,
  version    integer  NOT NULL,   -- of the row: whoever writes it writes the one after what it read
  state      smallint NOT NULL,   -- 0: open, 1: closed, 2: empty
  code       text     COLLATE "C" NOT NULL,
  source     text     COLLATE "C" NOT NULL,
  detail     bytea,               -- see visits/detail.ts; NULL for day 0 and in empty rows
  PRIMARY KEY (code, created_ms, day, source)
) WITH (fillfactor = 85);         -- leaves room to change open rows where they are

-- Ageing reads this.
CREATE INDEX visits_by_age ON visits (state, day);

-- Whoever lets visits age locks this row, so that one process merges all rows of a link's day.
CREATE TABLE ageing (
  part text NOT NULL PRIMARY KEY
);
INSERT INTO ageing (part) VALUES ('visits');

CREATE TABLE salts (
  day  integer NOT NULL PRIMARY KEY,
  salt bytea   NOT NULL
);

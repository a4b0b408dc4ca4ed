-- JSON, see links/link.ts; NULL for nearly all. The ninth column makes each row that is written from now on eight bytes
-- longer, because the bits that tell which columns are NULL no longer fit into the gap in the row's header: a link of an
-- 86-byte URL takes 300 instead of 292 bytes with all indexes. A table of its own would cost each look-up of a link
-- a second search.
ALTER TABLE links ADD COLUMN terms text;

-- What requests made that may be sent again. Only what the request does not say itself.
CREATE TABLE requests (
  sent_ms bigint NOT NULL,
  key     text   COLLATE "C" NOT NULL PRIMARY KEY, -- keyed hashes of the client's key and of the body
  body    text   NOT NULL,
  made    text   NOT NULL                          -- JSON: for each link its number, code, created_ms and ends_ms
) WITH (fillfactor = 70);                          -- leaves room to fill in what was made where the row is

-- Only what forgets them reads this.
CREATE INDEX requests_by_time ON requests (sent_ms);

-- One row: whoever knows it can make the manage key of every link.
CREATE TABLE secrets (
  name   text  COLLATE "C" NOT NULL PRIMARY KEY,
  secret bytea NOT NULL
);

-- Nothing needs them any more.
DROP TABLE copied, shared_limits;

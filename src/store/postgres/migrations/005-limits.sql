-- What clients did lately, for limits that all processes share. Nothing here is worth writing to the WAL: after a crash or a
-- failover the table is empty.
CREATE UNLOGGED TABLE shared_limits (
  client   uuid     NOT NULL PRIMARY KEY, -- a keyed hash of the client and the limit
  free_ms  bigint   NOT NULL,             -- when nothing is counted any more, in Unix milliseconds
  granted  integer  NOT NULL,             -- of what was asked for last
  paid_off bigint[] NOT NULL              -- for each window, Unix milliseconds times its count
) WITH (fillfactor = 70);                 -- leaves room to change rows where they are

-- One row while `curt copy` fills the store, and after that until the store is served.
CREATE TABLE copied (
  source      TEXT    NOT NULL,
  progress    TEXT    NOT NULL,
  is_finished INTEGER NOT NULL
) STRICT;

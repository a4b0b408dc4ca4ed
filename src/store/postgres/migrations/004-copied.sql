-- One row while `curt copy` fills the store, and after that until the store is served.
CREATE TABLE copied (
  source      text    NOT NULL,
  progress    text    NOT NULL,
  is_finished boolean NOT NULL
);

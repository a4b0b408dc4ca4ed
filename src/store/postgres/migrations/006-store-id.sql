-- One row. The journal of visits belongs to the store with this id. Dumps keep it, exports don't.
CREATE TABLE store (
  id text COLLATE "C" NOT NULL PRIMARY KEY
);

INSERT INTO store VALUES (replace(gen_random_uuid()::text, '-', ''));

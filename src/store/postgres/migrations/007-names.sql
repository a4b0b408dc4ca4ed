-- The locks wait for writers, and later writers wait for them. After a timeout, the next start tries again.
SET LOCAL lock_timeout = '5s';

-- The name of the operator who decided, if the token or the proxy gives one.
ALTER TABLE journal ADD COLUMN operator text;
ALTER TABLE events ADD COLUMN operator text;
ALTER TABLE refused_events ADD COLUMN operator text;

-- The operator whose decision is being written. Rows exist only within their transactions, which see no others.
CREATE TABLE acting (
  operator text NOT NULL
);

CREATE OR REPLACE FUNCTION record_event(text, text, bigint, text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO events (type, code, created_ms, detail, operator)
  SELECT $1, $2, $3, $4, (SELECT operator FROM acting) FROM event_recording WHERE types LIKE '% ' || $1 || ' %'
$$;

SET LOCAL lock_timeout TO DEFAULT;

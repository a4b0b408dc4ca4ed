-- The name of the operator who decided, if the token or the proxy gives one.
ALTER TABLE journal ADD COLUMN operator TEXT;
ALTER TABLE events ADD COLUMN operator TEXT;
ALTER TABLE refused_events ADD COLUMN operator TEXT;

-- The operator whose decision is being written. A row exists only within its transaction.
CREATE TABLE acting (
  operator TEXT NOT NULL
) STRICT;

CREATE TRIGGER event_of_operator AFTER INSERT ON events
WHEN new.type <> 'link.created' AND EXISTS (SELECT 1 FROM acting)
BEGIN
  UPDATE events SET operator = (SELECT operator FROM acting) WHERE seq = new.seq;
END;

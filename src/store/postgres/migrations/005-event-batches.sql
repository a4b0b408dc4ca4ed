-- The lock waits for writers, and later writers wait for it. After a timeout, the next start tries again.
SET LOCAL lock_timeout = '5s';

-- The numbers of the events in the last request, in JSON: a retry by another process sends the same ones.
ALTER TABLE event_sender ADD COLUMN batch text NOT NULL DEFAULT '[]';

SET LOCAL lock_timeout TO DEFAULT;

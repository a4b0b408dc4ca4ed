-- The lock waits for writers, and later writers wait for it. After a timeout, the next start tries again.
SET LOCAL lock_timeout = '5s';

-- When the link got the target that was answered or disabled: a later target opens the case again.
ALTER TABLE cases ADD COLUMN target_ms bigint;
UPDATE cases SET target_ms = coalesce(answered_ms, disabled_ms) WHERE answered_ms IS NOT NULL OR disabled_ms IS NOT NULL;

SET LOCAL lock_timeout TO DEFAULT;

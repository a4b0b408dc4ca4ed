-- When the link got the target that was answered or disabled: a later target opens the case again.
ALTER TABLE cases ADD COLUMN target_ms INTEGER;
UPDATE cases SET target_ms = coalesce(answered_ms, disabled_ms);

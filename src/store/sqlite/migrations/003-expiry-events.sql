-- Links with the same end as the cursor, up to its code, have their event. The triggers compared only the end.
DROP TRIGGER event_of_link;
CREATE TRIGGER event_of_link AFTER UPDATE ON links
BEGIN
  INSERT INTO events (code, created_ms, detail, type) SELECT old.code, old.created_ms, new.disabled, CASE
    WHEN new.created_ms <> old.created_ms THEN iif(
      old.terms ->> 'ended' IS NULL AND (old.ends_ms, old.code) > (SELECT expired_ms, expired_code FROM event_sender),
      'link.expired', NULL)
    WHEN new.disabled IS NOT old.disabled THEN iif(new.disabled IS NULL, 'link.enabled', 'link.disabled')
    WHEN new.terms ->> 'ended' = 'withdrawn' THEN 'link.withdrawn'
    WHEN new.terms ->> 'ended' = 'visits' THEN 'link.expired'
    WHEN new.original_url <> old.original_url OR new.ends_ms IS NOT old.ends_ms
      OR json_remove(coalesce(new.terms, '{}'), '$.visits') <> json_remove(coalesce(old.terms, '{}'), '$.visits')
      THEN 'link.changed'
  END;
END;

DROP TRIGGER event_of_purge;
CREATE TRIGGER event_of_purge AFTER DELETE ON links
WHEN old.terms ->> 'ended' IS NULL
  AND (old.ends_ms, old.code) > (SELECT expired_ms, expired_code FROM event_sender)
BEGIN
  INSERT INTO events (code, created_ms, type) VALUES (old.code, old.created_ms, 'link.expired');
END;

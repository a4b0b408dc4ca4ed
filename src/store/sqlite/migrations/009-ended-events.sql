-- A link that has ended can be handed over: a change, not another end.
DROP TRIGGER event_of_link;
CREATE TRIGGER event_of_link AFTER UPDATE ON links
BEGIN
  INSERT INTO events (code, created_ms, detail, type) SELECT old.code, old.created_ms, new.disabled, CASE
    WHEN new.created_ms <> old.created_ms THEN iif(
      old.terms ->> 'ended' IS NULL AND (old.ends_ms, old.code) > (SELECT expired_ms, expired_code FROM event_sender),
      'link.expired', NULL)
    WHEN new.disabled IS NOT old.disabled THEN iif(new.disabled IS NULL, 'link.enabled', 'link.disabled')
    WHEN new.terms ->> 'ended' IS NOT old.terms ->> 'ended'
      THEN iif(new.terms ->> 'ended' = 'withdrawn', 'link.withdrawn', 'link.expired')
    WHEN new.original_url <> old.original_url OR new.ends_ms IS NOT old.ends_ms
      OR json_remove(coalesce(new.terms, '{}'), '$.visits') <> json_remove(coalesce(old.terms, '{}'), '$.visits')
      THEN 'link.changed'
  END;
END;

-- A link that has ended can be handed over: a change, not another end.
CREATE OR REPLACE FUNCTION record_link_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM event_recording) THEN
    RETURN NULL;
  END IF;
  PERFORM record_event(CASE
    WHEN NEW.created_ms IS DISTINCT FROM OLD.created_ms THEN
      CASE WHEN OLD.terms::jsonb ->> 'ended' IS NULL
        AND (OLD.ends_ms, OLD.code) > (SELECT expired_ms, expired_code FROM event_sender)
        THEN 'link.expired' END
    WHEN NEW.disabled IS DISTINCT FROM OLD.disabled THEN
      CASE WHEN NEW.disabled IS NULL THEN 'link.enabled' ELSE 'link.disabled' END
    WHEN NEW.terms::jsonb ->> 'ended' IS DISTINCT FROM OLD.terms::jsonb ->> 'ended' THEN
      CASE WHEN NEW.terms::jsonb ->> 'ended' = 'withdrawn' THEN 'link.withdrawn' ELSE 'link.expired' END
    WHEN NEW.original_url <> OLD.original_url OR NEW.ends_ms IS DISTINCT FROM OLD.ends_ms
      OR coalesce(NEW.terms, '{}')::jsonb - 'visits' <> coalesce(OLD.terms, '{}')::jsonb - 'visits'
      THEN 'link.changed'
  END, OLD.code, OLD.created_ms, NEW.disabled);
  IF NEW.created_ms <> OLD.created_ms THEN
    PERFORM record_event('link.created', NEW.code, NEW.created_ms, NULL);
  END IF;
  RETURN NULL;
END $$;

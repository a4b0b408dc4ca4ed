-- With more than eight columns, every row would be eight bytes longer. Texts come last: a number after one is padded.
CREATE TABLE links (
  created_ms   bigint  NOT NULL,
  ends_ms      bigint,           -- NULL: never
  code         text    COLLATE "C" NOT NULL PRIMARY KEY,
  original_url text    NOT NULL,
  target       text,             -- NULL if it equals original_url
  disabled     text,             -- why; 'deleted' if only the code is kept. NULL for nearly all
  terms        text              -- JSON, see links/link.ts; NULL for nearly all
);

-- For the purge and for events. Links that the purge leaves alone cost it nothing.
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL AND disabled IS NULL;

-- For the operator's searches and figures, and for exports: links with neighbouring codes are far apart in the table.
CREATE INDEX links_by_time ON links (created_ms, code);

CREATE INDEX links_by_disabled ON links (disabled) WHERE disabled IS NOT NULL;

-- One row: about how many links there are, so that nobody has to count them.
CREATE TABLE link_count (
  links bigint NOT NULL
);

INSERT INTO link_count VALUES (0);

-- Every change to an existing link. A change of the rules about hosts has an empty code. Read by the transactions that
-- made the changes: numbers or times that are drawn before a commit can be out of commit order.
CREATE TABLE changes (
  transaction xid8   NOT NULL DEFAULT pg_current_xact_id(),
  made_at     timestamptz NOT NULL DEFAULT now(),
  code        text   COLLATE "C" NOT NULL
);

CREATE INDEX changes_by_transaction ON changes (transaction);

-- The newest transaction whose changes were deleted.
CREATE TABLE forgotten_changes (
  transaction xid8 NOT NULL
);

INSERT INTO forgotten_changes VALUES ('0');

-- What requests created that may be retried. Only what the request doesn't say itself.
CREATE TABLE requests (
  sent_ms bigint NOT NULL,
  key     text   COLLATE "C" NOT NULL PRIMARY KEY, -- keyed hashes of the client's key and of the body
  body    text   NOT NULL,
  made    text   NOT NULL                          -- JSON: for each link its number, code, created_ms and ends_ms
) WITH (fillfactor = 70);                          -- leaves room to fill in what was created where the row is

-- Only what forgets them reads this.
CREATE INDEX requests_by_time ON requests (sent_ms);

-- One row: whoever knows it can make the manage key of every link.
CREATE TABLE secrets (
  name   text  COLLATE "C" NOT NULL PRIMARY KEY,
  secret bytea NOT NULL
);

-- Processes that serve this database. Those that were killed stop renewing their row.
CREATE TABLE instances (
  id      text        NOT NULL PRIMARY KEY,
  renewed timestamptz NOT NULL
);

-- What one source counted of a link on one day (UTC, days since 1970-01-01). A source is the life of one process, and only
-- it adds to its rows. When the day is over, they are merged into one of them. The others stay for a while with nothing but
-- their sequence, so that no slice counts again. Day 0, with an empty source, holds what is too old to be told by day.
-- Numbers come first, because texts between them would have to be padded.
CREATE TABLE visits (
  created_ms bigint   NOT NULL,   -- a code can be given again: counts belong to one link
  sequence   bigint   NOT NULL,   -- the source's last that is part of this row
  visits     bigint   NOT NULL,
  bots       bigint   NOT NULL,
  day        integer  NOT NULL,
  version    integer  NOT NULL,   -- of the row: whoever writes it writes the one after what it read
  state      smallint NOT NULL,   -- 0: open, 1: closed, 2: empty
  code       text     COLLATE "C" NOT NULL,
  source     text     COLLATE "C" NOT NULL,
  detail     bytea,               -- see visits/detail.ts; NULL for day 0 and in empty rows
  PRIMARY KEY (code, created_ms, day, source)
) WITH (fillfactor = 85);         -- leaves room to change open rows where they are

-- Ageing reads this.
CREATE INDEX visits_by_age ON visits (state, day);

-- Whoever lets visits age locks this row, so that one process merges all rows of a link's day.
CREATE TABLE ageing (
  part text NOT NULL PRIMARY KEY
);
INSERT INTO ageing (part) VALUES ('visits');

-- The sum of a link's old days goes with the link, when it is purged or replaced by another one with its code.
CREATE FUNCTION forget_sum() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM visits WHERE code = OLD.code AND created_ms = OLD.created_ms AND day = 0;
  RETURN NULL;
END $$;
CREATE TRIGGER link_is_purged AFTER DELETE ON links FOR EACH ROW EXECUTE FUNCTION forget_sum();
CREATE TRIGGER link_is_replaced AFTER UPDATE OF created_ms ON links FOR EACH ROW
WHEN (NEW.created_ms <> OLD.created_ms) EXECUTE FUNCTION forget_sum();

CREATE TABLE salts (
  day  integer NOT NULL PRIMARY KEY,
  salt bytea   NOT NULL
);

-- Links to these hosts, and to all hosts below them, don't work.
CREATE TABLE hosts (
  host     text   COLLATE "C" NOT NULL PRIMARY KEY,
  reason   text   NOT NULL,
  since_ms bigint NOT NULL
);

-- What was decided about links and hosts. Nothing may change or remove a row.
CREATE TABLE journal (
  entry      bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  at_ms      bigint NOT NULL,
  who        text   NOT NULL,
  action     text   NOT NULL,
  reason     text,
  note       bytea,                        -- UTF-8: text cannot have a NUL
  code       text   COLLATE "C",
  created_ms bigint,
  host       text   COLLATE "C",
  operator   text                          -- a name, if the token or the proxy gives one
);

CREATE INDEX journal_by_code ON journal (code, entry) WHERE code IS NOT NULL;
CREATE INDEX journal_by_host ON journal (host, entry) WHERE host IS NOT NULL;

CREATE FUNCTION keep_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the journal only grows';
END $$;

CREATE TRIGGER journal_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON journal
FOR EACH STATEMENT EXECUTE FUNCTION keep_journal();

-- All reports of one link (code and created_ms) are one case. Whoever writes it has locked the link.
CREATE TABLE cases (
  code        text    COLLATE "C" NOT NULL,
  created_ms  bigint  NOT NULL,
  is_open     boolean NOT NULL,
  first_ms    bigint  NOT NULL,
  last_ms     bigint  NOT NULL,
  reports     integer NOT NULL,
  reasons     text    NOT NULL,  -- JSON: how many reports gave each reason
  pending     integer NOT NULL,  -- reports since the case was opened
  disabled_ms bigint,            -- when reports disabled the link
  answer      text,              -- NULL while it is open
  answered_ms bigint,
  target_ms   bigint,            -- when the link got the target that was answered or disabled: a later one opens the case again
  PRIMARY KEY (code, created_ms)
);

-- For the operator's list and for ageing.
CREATE INDEX cases_by_report ON cases (is_open, last_ms, code, created_ms);

-- The last notes of each case.
CREATE TABLE notes (
  id         bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  code       text   COLLATE "C" NOT NULL,
  created_ms bigint NOT NULL,
  noted_ms   bigint NOT NULL,
  reason     text   NOT NULL,
  note       bytea  NOT NULL  -- UTF-8
);

CREATE INDEX notes_by_case ON notes (code, created_ms, id);

-- Who has reported a link today: keyed hashes, which are deleted when the day is over.
CREATE TABLE reporters (
  day        integer NOT NULL,
  code       text    COLLATE "C" NOT NULL,
  created_ms bigint  NOT NULL,
  reporter   text    COLLATE "C" NOT NULL,
  PRIMARY KEY (day, code, created_ms, reporter)
);

-- What was counted on a day (UTC, since 1970-01-01).
CREATE TABLE counters (
  day   integer NOT NULL,
  name  text    COLLATE "C" NOT NULL,
  count bigint  NOT NULL,
  PRIMARY KEY (day, name)
);

-- Digests of the operator's sessions that were signed out. A row is deleted after its session would have ended.
CREATE TABLE ended_sessions (
  session bytea  NOT NULL PRIMARY KEY,
  ends_ms bigint NOT NULL
);

-- Events of links and hosts that wait for EVENTS_URL, and the last ones sent. A link's numbers are in commit order,
-- because each change of a link locks its row.
CREATE TABLE events (
  seq        bigint  NOT NULL GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  created_ms bigint,
  at_ms      bigint  NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000,
  sent       boolean NOT NULL DEFAULT FALSE,
  type       text    NOT NULL,
  code       text    COLLATE "C",            -- NULL for a host
  detail     text    COLLATE "C",            -- the host, or why the link is disabled
  operator   text                            -- who decided it, as in the journal
);

-- The operator whose decision is being written. Rows exist only within their transactions, which see no others.
CREATE TABLE acting (
  operator text NOT NULL
);

-- Events that EVENTS_URL refused. Not in `events`: recording ends when the numbers there span too many.
CREATE TABLE refused_events (
  seq        bigint NOT NULL PRIMARY KEY,
  created_ms bigint,
  at_ms      bigint NOT NULL,
  type       text   NOT NULL,
  code       text   COLLATE "C",
  detail     text   COLLATE "C",
  operator   text
);

-- At most one row. A process with EVENTS_URL writes it, which turns recording on.
CREATE TABLE event_sender (
  id           integer     NOT NULL PRIMARY KEY,
  owner        text        NOT NULL,         -- the process that sends, '' if none does
  turn         bigint      NOT NULL,         -- grows while the owner works
  types        text        NOT NULL,         -- what to record, with a space around each type
  renewed      timestamptz NOT NULL,
  expired_ms   bigint      NOT NULL,         -- links that ended up to here have their event
  expired_code text        COLLATE "C" NOT NULL,
  batch        text        NOT NULL DEFAULT '[]' -- JSON: the last request's events, which another process sends again
);

-- Recording ends a day after the last process with EVENTS_URL, and before unsent events fill the disk.
CREATE VIEW event_recording AS
SELECT types FROM event_sender
WHERE renewed > now() - interval '1 day'
  AND coalesce((SELECT max(seq) FROM events) - (SELECT min(seq) FROM events), 0) < 200000;

-- Records an event if its type is wanted. A change that is no event has no type.
CREATE FUNCTION record_event(text, text, bigint, text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO events (type, code, created_ms, detail, operator)
  SELECT $1, $2, $3, $4, (SELECT operator FROM acting) FROM event_recording WHERE types LIKE '% ' || $1 || ' %'
$$;

-- A replaced or purged link has expired, unless the sender has recorded that. A counted visit is no change.
CREATE FUNCTION record_link_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM event_recording) THEN
    RETURN NULL;
  END IF;
  PERFORM record_event(CASE
    WHEN NEW.created_ms IS DISTINCT FROM OLD.created_ms THEN
      CASE WHEN OLD.terms::jsonb ->> 'ended' IS NULL AND OLD.ends_ms >= (SELECT expired_ms FROM event_sender)
        THEN 'link.expired' END
    WHEN NEW.disabled IS DISTINCT FROM OLD.disabled THEN
      CASE WHEN NEW.disabled IS NULL THEN 'link.enabled' ELSE 'link.disabled' END
    WHEN NEW.terms::jsonb ->> 'ended' = 'withdrawn' THEN 'link.withdrawn'
    WHEN NEW.terms::jsonb ->> 'ended' = 'visits' THEN 'link.expired'
    WHEN NEW.original_url <> OLD.original_url OR NEW.ends_ms IS DISTINCT FROM OLD.ends_ms
      OR coalesce(NEW.terms, '{}')::jsonb - 'visits' <> coalesce(OLD.terms, '{}')::jsonb - 'visits'
      THEN 'link.changed'
  END, OLD.code, OLD.created_ms, NEW.disabled);
  IF NEW.created_ms <> OLD.created_ms THEN
    PERFORM record_event('link.created', NEW.code, NEW.created_ms, NULL);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER event_of_link AFTER UPDATE OR DELETE ON links FOR EACH ROW EXECUTE FUNCTION record_link_event();

CREATE FUNCTION record_case_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM record_event('report.opened', NEW.code, NEW.created_ms, NULL);
  RETURN NULL;
END $$;
CREATE TRIGGER event_of_case AFTER INSERT ON cases FOR EACH ROW
WHEN (NEW.is_open) EXECUTE FUNCTION record_case_event();
CREATE TRIGGER event_of_reopened_case AFTER UPDATE ON cases FOR EACH ROW
WHEN (NEW.is_open AND NOT OLD.is_open) EXECUTE FUNCTION record_case_event();

CREATE FUNCTION record_host_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM record_event('host.blocked', NULL, NULL, NEW.host);
  RETURN NULL;
END $$;
CREATE TRIGGER event_of_host AFTER INSERT ON hosts FOR EACH ROW EXECUTE FUNCTION record_host_event();

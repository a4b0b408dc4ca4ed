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
-- A decision is one entry. Those of an earlier Curt, which may run for a moment longer, have no number of links and no values:
-- they can't be undone.
ALTER TABLE journal ADD COLUMN links integer; -- how many it is about
ALTER TABLE journal ADD COLUMN undoes bigint; -- the entry that this one undoes

-- What decisions replaced: a row for each link, case and host that one set, also to the same value.
CREATE TABLE replaced (
  entry       bigint NOT NULL,
  kind        text   COLLATE "C" NOT NULL, -- link, case or host
  subject     text   COLLATE "C" NOT NULL, -- a code or a host
  created_ms  bigint NOT NULL,             -- which link of the code; 0 for a host
  value       text,                        -- of links.disabled, cases.answer or hosts.reason; NULL: enabled, open or not blocked
  at_ms       bigint,                      -- of cases.answered_ms or hosts.since_ms
  disabled_ms bigint,                      -- as in cases
  target_ms   bigint,                      -- as in cases
  pending     integer,                     -- as in cases
  undone_by   bigint,                      -- the entry that restored it
  PRIMARY KEY (entry, kind, subject)
);

CREATE INDEX replaced_by_subject ON replaced (subject, kind, created_ms, entry);
-- Links with the same end as the cursor, up to its code, have their event. The trigger compared only the end.
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
-- Settings that the store must not forget, see remembered-settings.ts. Not exported: another instance has its own.
CREATE TABLE remembered_settings (
  name     text   COLLATE "C" NOT NULL,
  value    text   COLLATE "C" NOT NULL,
  since_ms bigint NOT NULL, -- 0: for the first value
  PRIMARY KEY (name, since_ms, value)
);
-- When Curt sends a refused event again. Those of before are due.
ALTER TABLE refused_events ADD COLUMN next_ms bigint NOT NULL DEFAULT 0;
CREATE INDEX refused_events_by_next ON refused_events (next_ms);

-- Reports are sent before other events. Without "sent": its changes would then update the index.
CREATE INDEX reports_by_seq ON events (seq) WHERE type = 'report.opened';
-- One row. The journal of visits belongs to the store with this id. Dumps keep it, exports don't.
CREATE TABLE store (
  id text COLLATE "C" NOT NULL PRIMARY KEY
);

INSERT INTO store VALUES (replace(gen_random_uuid()::text, '-', ''));
-- CODE_CASE has one value for ever: with another one, addresses would find other links, or none. Earlier stores match capitals.
CREATE UNIQUE INDEX one_code_case ON remembered_settings (name) WHERE name = 'CODE_CASE';
INSERT INTO remembered_settings (name, value, since_ms)
  SELECT 'CODE_CASE', 'match', 0
  WHERE EXISTS (SELECT 1 FROM links) OR EXISTS (SELECT 1 FROM remembered_settings);
-- For the lists of people's own links: those of one domain, newest first. Other links aren't in it.
CREATE INDEX links_by_owner ON links
  ((terms::json ->> 'owner'), substr(code, 1, strpos(code, '/')), created_ms, code)
WHERE terms::json ->> 'owner' IS NOT NULL;

-- What the decision made of the value. NULL for states, which the action tells.
ALTER TABLE replaced ADD COLUMN became text;
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
CREATE TABLE curt (version integer NOT NULL);
TRUNCATE ageing;
INSERT INTO ageing (part) VALUES ('visits');
TRUNCATE cases;
INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms, target_ms) VALUES ('reported', '1795977986735', 'true', '1795977986956', '1795977986956', '1', '{"phishing":1,"pending":{"phishing":1}}', '1', NULL, NULL, NULL, NULL);
TRUNCATE changes;
INSERT INTO changes (transaction, made_at, code) VALUES ('777', '2026-11-29 18:46:26.914806+00', 'moved');
INSERT INTO changes (transaction, made_at, code) VALUES ('779', '2026-11-29 18:46:26.937391+00', 'withdrawn');
INSERT INTO changes (transaction, made_at, code) VALUES ('781', '2026-11-29 18:46:26.977658+00', 'disabled');
INSERT INTO changes (transaction, made_at, code) VALUES ('782', '2026-11-29 18:46:27.015406+00', '');
INSERT INTO changes (transaction, made_at, code) VALUES ('783', '2026-11-29 18:46:27.029889+00', 'deleted');
TRUNCATE counters;
INSERT INTO counters (day, name, count) VALUES ('20786', 'bots', '2');
INSERT INTO counters (day, name, count) VALUES ('20786', 'created', '15');
INSERT INTO counters (day, name, count) VALUES ('20786', 'reports', '1');
INSERT INTO counters (day, name, count) VALUES ('20786', 'visits', '7');
TRUNCATE curt;
INSERT INTO curt (version) VALUES ('9');
TRUNCATE event_sender;
INSERT INTO event_sender (id, owner, turn, types, renewed, expired_ms, expired_code, batch) VALUES ('1', '', '0', ' report.opened link.created link.changed link.withdrawn link.expired link.disabled link.enabled host.blocked ', '2026-11-29 18:46:26.433649+00', '1795977986222', '', '[]');
TRUNCATE events;
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('1', '1795977986661', '1795977986680', 'false', 'link.created', 'plain', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('10', '1795977986799', '1795977986881', 'false', 'link.created', 'secret', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('11', '1795977986883', '1795977986887', 'false', 'link.created', 'passes-on', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('12', '1795977986890', '1795977986894', 'false', 'link.created', 'later', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('13', '1795977986897', '1795977986903', 'false', 'link.created', 'moved', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('14', '1795977986897', '1795977986922', 'false', 'link.changed', 'moved', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('15', '1795977986926', '1795977986930', 'false', 'link.created', 'withdrawn', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('16', '1795977986926', '1795977986942', 'false', 'link.withdrawn', 'withdrawn', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('17', '1795977986735', '1795977986965', 'false', 'report.opened', 'reported', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('18', '1795977986725', '1795977986993', 'false', 'link.disabled', 'disabled', 'spam', 'mina');
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('19', NULL, '1795977987021', 'false', 'host.blocked', NULL, 'blocked.example', 'mina');
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('2', '1795977986685', '1795977986710', 'false', 'link.created', '한글날☕', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('20', '1795977986729', '1795977987038', 'false', 'link.disabled', 'deleted', 'deleted', 'mina');
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('21', '1795977987049', '1795977987055', 'false', 'link.created', 'again', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('3', '1795977986714', '1795977986719', 'false', 'link.created', 'djmZLtL', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('4', '1795977986721', '1795977986724', 'false', 'link.created', 'ends', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('5', '1795977986725', '1795977986728', 'false', 'link.created', 'disabled', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('6', '1795977986729', '1795977986732', 'false', 'link.created', 'deleted', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('7', '1795977986735', '1795977986740', 'false', 'link.created', 'reported', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('8', '1795977986742', '1795977986746', 'false', 'link.created', 'blocked', NULL, NULL);
INSERT INTO events (seq, created_ms, at_ms, sent, type, code, detail, operator) VALUES ('9', '1795977986778', '1795977986782', 'false', 'link.created', 'limited', NULL, NULL);
SELECT setval(pg_get_serial_sequence('events', 'seq'), (SELECT coalesce(max(seq), 1) FROM events));
TRUNCATE forgotten_changes;
INSERT INTO forgotten_changes (transaction) VALUES ('0');
TRUNCATE hosts;
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', '1795977987014');
INSERT INTO journal (entry, at_ms, who, action, reason, note, code, created_ms, host, operator, links, undoes) VALUES ('1', '1795977986977', 'api', 'disable', 'spam', E'\\x277365656e27', 'disabled', '1795977986725', NULL, 'mina', '1', NULL);
INSERT INTO journal (entry, at_ms, who, action, reason, note, code, created_ms, host, operator, links, undoes) VALUES ('2', '1795977987014', 'api', 'block-host', 'malware', NULL, NULL, NULL, 'blocked.example', 'mina', '0', NULL);
INSERT INTO journal (entry, at_ms, who, action, reason, note, code, created_ms, host, operator, links, undoes) VALUES ('3', '1795977987029', 'api', 'erase', NULL, NULL, 'deleted', '1795977986729', NULL, 'mina', '1', NULL);
SELECT setval(pg_get_serial_sequence('journal', 'entry'), (SELECT coalesce(max(entry), 1) FROM journal));
TRUNCATE link_count;
INSERT INTO link_count (links) VALUES ('15');
TRUNCATE links;
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986661', NULL, 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', NULL, '{"createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986685', NULL, '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', NULL, '{"createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986714', NULL, 'djmZLtL', 'https://example.com/generated', NULL, NULL, '{"createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986721', '1796582786721', 'ends', 'https://example.com/ends', NULL, NULL, '{"createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986725', NULL, 'disabled', 'https://example.com/disabled', NULL, 'spam', '{"createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986729', NULL, 'deleted', '', NULL, 'deleted', NULL);
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986735', NULL, 'reported', 'https://example.com/reported', NULL, NULL, '{"createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986742', NULL, 'blocked', 'https://sub.blocked.example/', NULL, NULL, '{"createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986778', NULL, 'limited', 'https://example.com/limited', NULL, NULL, '{"maxVisits":3,"createdBy":"club","visits":1}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986799', NULL, 'secret', 'https://example.com/secret', NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$YQLRHMH6gDBtqi8+GkiWBNGpqV27DPP6p6iPisBXDbM$Hg0LWJZhhbIa5VgBeAkX5piZww6Uvb797zy1MgOC+zE","createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986883', NULL, 'passes-on', 'https://example.com/passes-on', NULL, NULL, '{"forwardQuery":true,"createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986890', NULL, 'later', 'https://example.com/later', NULL, NULL, '{"startsMs":1795995986464,"createdBy":"club"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986897', NULL, 'moved', 'https://example.com/after', NULL, NULL, '{"createdBy":"club","changedMs":1795977986913,"formerHost":"example.com","formerMs":16}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977986926', '1795977986937', 'withdrawn', 'https://example.com/withdrawn', NULL, NULL, '{"createdBy":"club","ended":"withdrawn"}');
INSERT INTO links (created_ms, ends_ms, code, original_url, target, disabled, terms) VALUES ('1795977987049', NULL, 'again', 'https://example.com/again', NULL, NULL, '{"createdBy":"club"}');
TRUNCATE notes;
INSERT INTO notes (id, code, created_ms, noted_ms, reason, note) VALUES ('1', 'reported', '1795977986735', '1795977986956', 'phishing', E'\\xeab080eca79c20ec9d80ed9689');
SELECT setval(pg_get_serial_sequence('notes', 'id'), (SELECT coalesce(max(id), 1) FROM notes));
TRUNCATE remembered_settings;
INSERT INTO remembered_settings (name, value, since_ms) VALUES ('BASE_URL', 'go.example.com', '0');
INSERT INTO remembered_settings (name, value, since_ms) VALUES ('CODE_CASE', 'match', '1');
INSERT INTO remembered_settings (name, value, since_ms) VALUES ('STATS_KEEP', '400', '1795977986177');
TRUNCATE replaced;
INSERT INTO replaced (entry, kind, subject, created_ms, value, at_ms, disabled_ms, target_ms, pending, undone_by, became) VALUES ('1', 'link', 'disabled', '1795977986725', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO replaced (entry, kind, subject, created_ms, value, at_ms, disabled_ms, target_ms, pending, undone_by, became) VALUES ('2', 'host', 'blocked.example', '0', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO replaced (entry, kind, subject, created_ms, value, at_ms, disabled_ms, target_ms, pending, undone_by, became) VALUES ('3', 'link', 'deleted', '1795977986729', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
TRUNCATE reporters;
INSERT INTO reporters (day, code, created_ms, reporter) VALUES ('20786', 'reported', '1795977986735', '10a5ad217381bd8f');
TRUNCATE requests;
INSERT INTO requests (sent_ms, key, body, made) VALUES ('1795977987049', 'WAjhKaEhwqxkYznIS4pKqQ', 'P0GBBGOGxJKfygChlv9a9Q', '[{"nth":0,"code":"again","createdMs":1795977987049,"endsMs":253402214400000}]');
TRUNCATE salts;
INSERT INTO salts (day, salt) VALUES ('20786', E'\\xc429022d92d104d354f23f0d1e59b8af7ce256622fc75f1b6433cbeb736c2f7a');
TRUNCATE secrets;
INSERT INTO secrets (name, secret) VALUES ('instance', E'\\xb1c5d9630803815e43bea4672cb117620657ac3164182e2a39659c8e9200f61d');
TRUNCATE store;
INSERT INTO store (id) VALUES ('c10312177f0e45a8b894ccff59f821c5');
TRUNCATE visits;
INSERT INTO visits (created_ms, sequence, visits, bots, day, version, state, code, source, detail) VALUES ('1795977986661', '1', '3', '2', '20786', '1', '0', 'plain', 'bfa1044cb19dffbc', E'\\x21808010030202b983caaf06022603020003020203020603020403020203');
INSERT INTO visits (created_ms, sequence, visits, bots, day, version, state, code, source, detail) VALUES ('1795977986685', '1', '1', '0', '20786', '1', '0', '한글날☕', 'bfa1044cb19dffbc', E'\\x5274a7272806260002060402');
INSERT INTO visits (created_ms, sequence, visits, bots, day, version, state, code, source, detail) VALUES ('1795977986725', '1', '2', '0', '20786', '1', '0', 'disabled', 'bfa1044cb19dffbc', E'\\x2180801002000232ff155c06022602020002020202020602020402020202');
INSERT INTO visits (created_ms, sequence, visits, bots, day, version, state, code, source, detail) VALUES ('1795977986778', '1', '1', '0', '20786', '1', '0', 'limited', 'bfa1044cb19dffbc', E'\\x52bbda7a9406260002060402');

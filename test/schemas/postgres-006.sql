-- Eight columns: with a ninth, every row would be eight bytes longer.
CREATE TABLE links (
  created_ms   bigint  NOT NULL,
  place        bigint  NOT NULL, -- newer links have higher ones: µs since 1970 by the primary's clock
  ends_ms      bigint,           -- NULL: never
  site         integer,          -- 32 bits of a hash, see guard/site.ts
  code         text    COLLATE "C" NOT NULL PRIMARY KEY,
  original_url text    NOT NULL,
  target       text,             -- NULL where it equals original_url
  disabled     text              -- why; 'deleted' where only the code is kept. NULL for nearly all
);

-- The purge reads this; links without an end cost it nothing.
CREATE INDEX links_by_end ON links (ends_ms) WHERE ends_ms IS NOT NULL;

-- Only the operator's searches and figures read these, and a preview that asks whether a site is new.
CREATE INDEX links_by_place ON links (place);
CREATE INDEX links_by_time ON links (created_ms, code);
-- In parts of 2^35 µs, nine hours: all random writes go to the newest one, which stays in memory.
CREATE INDEX links_by_site ON links (((place >> 35)::integer), site, place);
CREATE INDEX links_by_disabled ON links (disabled, place) WHERE disabled IS NOT NULL;

-- About how many links were made in each hour (since 1970-01-01), so that nobody has to count them. Hours that are long
-- over are added up in hour 0.
CREATE TABLE link_counts (
  hour  integer NOT NULL PRIMARY KEY,
  links bigint  NOT NULL
);

-- Every change to an existing link. A change of the rules about hosts has an empty code. Read by the transactions that
-- made the changes: numbers or times that are drawn before a commit can be out of commit order.
CREATE TABLE changes (
  transaction xid8   NOT NULL DEFAULT pg_current_xact_id(),
  code        text   COLLATE "C" NOT NULL,
  created_ms  bigint NOT NULL,
  made_at     timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX changes_by_transaction ON changes (transaction);

-- The newest transaction whose changes were deleted.
CREATE TABLE forgotten_changes (
  transaction xid8 NOT NULL
);

INSERT INTO forgotten_changes VALUES ('0');
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

CREATE TABLE salts (
  day  integer NOT NULL PRIMARY KEY,
  salt bytea   NOT NULL
);
-- Hosts to which no link works, with all hosts below them. A change of this table is a row in changes with an empty code.
CREATE TABLE hosts (
  host     text   COLLATE "C" NOT NULL PRIMARY KEY,
  reason   text   NOT NULL,
  since_ms bigint NOT NULL
);

-- What was decided about links and hosts. Nothing may change or remove a row.
CREATE TABLE journal (
  code       text   COLLATE "C" NOT NULL,  -- empty where a host was decided about
  entry      uuid   NOT NULL,              -- of version 7, so that entries are in the order in which they were made
  at_ms      bigint NOT NULL,
  who        text   NOT NULL,
  action     text   NOT NULL,
  reason     text,
  note       bytea,                        -- UTF-8: text cannot have a NUL
  created_ms bigint,
  host       text   COLLATE "C",
  PRIMARY KEY (code, entry)
);

-- Only the operator reads by these.
CREATE INDEX journal_by_entry ON journal (entry);
CREATE INDEX journal_by_host ON journal (host, entry) WHERE host IS NOT NULL;

CREATE FUNCTION keep_journal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the journal only grows';
END $$;

CREATE TRIGGER journal_only_grows BEFORE UPDATE OR DELETE OR TRUNCATE ON journal
FOR EACH STATEMENT EXECUTE FUNCTION keep_journal();

-- All reports of one link (code and created_ms) are one case.
CREATE TABLE cases (
  code        text    COLLATE "C" NOT NULL,
  created_ms  bigint  NOT NULL,
  is_open     boolean NOT NULL,
  first_ms    bigint  NOT NULL,
  last_ms     bigint  NOT NULL,
  reports     integer NOT NULL,
  reasons     jsonb   NOT NULL,  -- how many reports gave each reason
  pending     integer NOT NULL,  -- reports since the case was opened
  disabled_ms bigint,            -- when reports disabled the link
  answer      text,              -- NULL while it is open
  answered_ms bigint,
  version     integer NOT NULL,  -- counts the times it was written, so that a writer sees that another one came first
  PRIMARY KEY (code, created_ms)
);

-- For the operator's list and for ageing.
CREATE INDEX cases_by_report ON cases (is_open, last_ms, code, created_ms);

-- The last notes of each case.
CREATE TABLE notes (
  code       text   COLLATE "C" NOT NULL,
  created_ms bigint NOT NULL,
  id         uuid   NOT NULL,  -- of version 7: in order
  noted_ms   bigint NOT NULL,
  reason     text   NOT NULL,
  note       bytea  NOT NULL,  -- UTF-8
  PRIMARY KEY (code, created_ms, id)
);

-- For deleting the oldest.
CREATE INDEX notes_by_id ON notes (id);

-- Who has reported a link today: keyed hashes, which are deleted when the day is over.
CREATE TABLE reporters (
  code       text    COLLATE "C" NOT NULL,
  created_ms bigint  NOT NULL,
  day        integer NOT NULL,
  reporter   text    COLLATE "C" NOT NULL,
  PRIMARY KEY (code, created_ms, day, reporter)
);

CREATE INDEX reporters_by_day ON reporters (day);

-- What was counted on a day (UTC, since 1970-01-01).
CREATE TABLE counters (
  day   integer NOT NULL,
  name  text    COLLATE "C" NOT NULL,
  count bigint  NOT NULL,
  PRIMARY KEY (day, name)
);
-- One row while `curt copy` fills the store, and after that until the store is served.
CREATE TABLE copied (
  source      text    NOT NULL,
  progress    text    NOT NULL,
  is_finished boolean NOT NULL
);
-- What clients did lately, for limits that all processes share. Nothing here is worth writing to the WAL: after a crash or a
-- failover the table is empty.
CREATE UNLOGGED TABLE shared_limits (
  client   uuid     NOT NULL PRIMARY KEY, -- a keyed hash of the client and the limit
  free_ms  bigint   NOT NULL,             -- when nothing is counted any more, in Unix milliseconds
  granted  integer  NOT NULL,             -- of what was asked for last
  paid_off bigint[] NOT NULL              -- for each window, Unix milliseconds times its count
) WITH (fillfactor = 70);                 -- leaves room to change rows where they are;
-- JSON, see links/link.ts; NULL for nearly all. The ninth column makes each row that is written from now on eight bytes
-- longer, because the bits that tell which columns are NULL no longer fit into the gap in the row's header: a link of an
-- 86-byte URL takes 300 instead of 292 bytes with all indexes. A table of its own would cost each look-up of a link
-- a second search.
ALTER TABLE links ADD COLUMN terms text;

-- What requests made that may be sent again. Only what the request does not say itself.
CREATE TABLE requests (
  sent_ms bigint NOT NULL,
  key     text   COLLATE "C" NOT NULL PRIMARY KEY, -- keyed hashes of the client's key and of the body
  body    text   NOT NULL,
  made    text   NOT NULL                          -- JSON: for each link its number, code, created_ms and ends_ms
) WITH (fillfactor = 70);                          -- leaves room to fill in what was made where the row is

-- Only what forgets them reads this.
CREATE INDEX requests_by_time ON requests (sent_ms);

-- One row: whoever knows it can make the manage key of every link.
CREATE TABLE secrets (
  name   text  COLLATE "C" NOT NULL PRIMARY KEY,
  secret bytea NOT NULL
);
CREATE TABLE curt (version integer NOT NULL);
TRUNCATE ageing;
INSERT INTO ageing (part) VALUES ('visits');
TRUNCATE cases;
INSERT INTO cases (code, created_ms, is_open, first_ms, last_ms, reports, reasons, pending, disabled_ms, answer, answered_ms, version) VALUES ('reported', '1795407349668', 'true', '1795407349766', '1795407349766', '1', '{"phishing": 1}', '1', NULL, NULL, NULL, '1');
TRUNCATE changes;
INSERT INTO changes (transaction, code, created_ms, made_at) VALUES ('770', 'moved', '1795407349737', '2026-11-23 04:15:49.751608+00');
INSERT INTO changes (transaction, code, created_ms, made_at) VALUES ('772', 'withdrawn', '1795407349756', '2026-11-23 04:15:49.759681+00');
INSERT INTO changes (transaction, code, created_ms, made_at) VALUES ('774', 'disabled', '1795407349665', '2026-11-23 04:15:49.774913+00');
INSERT INTO changes (transaction, code, created_ms, made_at) VALUES ('775', '', '0', '2026-11-23 04:15:49.780589+00');
INSERT INTO changes (transaction, code, created_ms, made_at) VALUES ('776', 'deleted', '1795407349666', '2026-11-23 04:15:49.784597+00');
TRUNCATE counters;
INSERT INTO counters (day, name, count) VALUES ('20780', 'bots', '2');
INSERT INTO counters (day, name, count) VALUES ('20780', 'created', '14');
INSERT INTO counters (day, name, count) VALUES ('20780', 'reports', '1');
INSERT INTO counters (day, name, count) VALUES ('20780', 'visits', '7');
TRUNCATE curt;
INSERT INTO curt (version) VALUES ('6');
TRUNCATE forgotten_changes;
INSERT INTO forgotten_changes (transaction) VALUES ('0');
TRUNCATE hosts;
INSERT INTO hosts (host, reason, since_ms) VALUES ('blocked.example', 'malware', '1795407349780');
INSERT INTO journal (code, entry, at_ms, who, action, reason, note, created_ms, host) VALUES ('', '01a2069e-0814-71b3-b736-9974e14ac4ec', '1795407349780', 'api', 'block-host', 'malware', NULL, NULL, 'blocked.example');
INSERT INTO journal (code, entry, at_ms, who, action, reason, note, created_ms, host) VALUES ('deleted', '01a2069e-0819-7011-ae49-b4757cc71cd6', '1795407349784', 'api', 'erase', NULL, NULL, '1795407349666', NULL);
INSERT INTO journal (code, entry, at_ms, who, action, reason, note, created_ms, host) VALUES ('disabled', '01a2069e-080f-77c9-a013-00236681a17b', '1795407349774', 'api', 'disable', 'spam', E'\\x277365656e27', '1795407349665', NULL);
TRUNCATE link_counts;
INSERT INTO link_counts (hour, links) VALUES ('498724', '14');
TRUNCATE links;
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349628', '1795407349645759', NULL, '-1225109831', 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', NULL, NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349649', '1795407349657781', NULL, '1135353430', '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', NULL, NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349659', '1795407349661715', NULL, '-1225109831', 'fRRVyLs', 'https://example.com/generated', NULL, NULL, NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349662', '1795407349663618', '1796012149662', '-1225109831', 'ends', 'https://example.com/ends', NULL, NULL, NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349665', '1795407349666229', NULL, '-1225109831', 'disabled', 'https://example.com/disabled', NULL, 'spam', NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349666', '1795407349667888', NULL, NULL, 'deleted', '', NULL, 'deleted', NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349668', '1795407349669720', NULL, '-1225109831', 'reported', 'https://example.com/reported', NULL, NULL, NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349671', '1795407349671908', NULL, '-1211866521', 'blocked', 'https://sub.blocked.example/', NULL, NULL, NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349686', '1795407349687320', NULL, '-1225109831', 'limited', 'https://example.com/limited', NULL, NULL, '{"maxVisits":3,"visits":1}');
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349692', '1795407349732613', NULL, '-1225109831', 'secret', 'https://example.com/secret', NULL, NULL, '{"passwordHash":"$argon2id$v=19$m=19456,t=2,p=1$a7UZ4Znab2JLCOhhiaCfApDnSmAvYagzRGIZcQOA7wQ$WmkLrVACxK6iGMk/NSnSDTdB6pUkvPIEFJNYx2qKZ8E"}');
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349734', '1795407349736230', NULL, '-1225109831', 'later', 'https://example.com/later', NULL, NULL, '{"startsMs":1795425349612}');
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349737', '1795407349738575', NULL, '-1225109831', 'moved', 'https://example.com/after', NULL, NULL, '{"changedMs":1795407349751,"formerHost":"example.com","formerMs":14}');
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349756', '1795407349757883', '1795407349759', '-1225109831', 'withdrawn', 'https://example.com/withdrawn', NULL, NULL, '{"ended":"withdrawn"}');
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled, terms) VALUES ('1795407349790', '1795407349794120', NULL, '-1225109831', 'again', 'https://example.com/again', NULL, NULL, NULL);
TRUNCATE notes;
INSERT INTO notes (code, created_ms, id, noted_ms, reason, note) VALUES ('reported', '1795407349668', '01a2069e-0808-71f1-bfc0-f397cde05ab6', '1795407349766', 'phishing', E'\\xeab080eca79c20ec9d80ed9689');
TRUNCATE reporters;
INSERT INTO reporters (code, created_ms, day, reporter) VALUES ('reported', '1795407349668', '20780', '722d70f152de8afe');
TRUNCATE requests;
INSERT INTO requests (sent_ms, key, body, made) VALUES ('1795407349790', '_LJ2WNThNVQ65lgZNLjdsw', '8voSX9Pc2NuRc5yqbjVNHA', '[{"nth":0,"code":"again","createdMs":1795407349790,"endsMs":253402214400000}]');
TRUNCATE salts;
INSERT INTO salts (day, salt) VALUES ('20780', E'\\xabb5b7af82a42cfe474cd90902b62371dab02c98c47c726065bbfd0102aeda66');
TRUNCATE secrets;
INSERT INTO secrets (name, secret) VALUES ('instance', E'\\x626177193ff231e493eb1d3f51e0b37aa7e8ab9f02864968e65e771a5655d199');
TRUNCATE visits;
INSERT INTO visits (created_ms, sequence, visits, bots, day, version, state, code, source, detail) VALUES ('1795407349628', '1', '3', '2', '20780', '1', '0', 'plain', '29976f3326f4cf45', E'\\x21100302024ece0c2f06022603020003020203020603020403020203');
INSERT INTO visits (created_ms, sequence, visits, bots, day, version, state, code, source, detail) VALUES ('1795407349649', '1', '1', '0', '20780', '1', '0', '한글날☕', '29976f3326f4cf45', E'\\x44501cc49106260002060402');
INSERT INTO visits (created_ms, sequence, visits, bots, day, version, state, code, source, detail) VALUES ('1795407349665', '1', '2', '0', '20780', '1', '0', 'disabled', '29976f3326f4cf45', E'\\x21100200026c2e442506022602020002020202020602020402020202');
INSERT INTO visits (created_ms, sequence, visits, bots, day, version, state, code, source, detail) VALUES ('1795407349686', '1', '1', '0', '20780', '1', '0', 'limited', '29976f3326f4cf45', E'\\x44980e96f806260002060402');

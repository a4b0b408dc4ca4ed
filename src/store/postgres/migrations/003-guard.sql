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

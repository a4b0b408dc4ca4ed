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
CREATE TABLE curt (version integer NOT NULL);
TRUNCATE changes;
INSERT INTO changes (transaction, code, created_ms, made_at) VALUES ('765', 'disabled', '1795344502186', '2026-11-22 10:48:22.282937+00');
INSERT INTO changes (transaction, code, created_ms, made_at) VALUES ('766', '', '0', '2026-11-22 10:48:22.287651+00');
INSERT INTO changes (transaction, code, created_ms, made_at) VALUES ('767', 'deleted', '1795344502188', '2026-11-22 10:48:22.291128+00');
TRUNCATE curt;
INSERT INTO curt (version) VALUES (1);
TRUNCATE forgotten_changes;
INSERT INTO forgotten_changes (transaction) VALUES ('0');
TRUNCATE link_counts;
INSERT INTO link_counts (hour, links) VALUES ('498706', '8');
TRUNCATE links;
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled) VALUES ('1795344502139', '1795344502151041', NULL, '-1225109831', 'plain', 'HTTPS://Example.com/plain?a=b#c', 'https://example.com/plain?a=b#c', NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled) VALUES ('1795344502169', '1795344502172013', NULL, '1135353430', '한글날☕', 'https://누리집.example/안내/오시는 길', 'https://xn--od1b68ljso.example/%EC%95%88%EB%82%B4/%EC%98%A4%EC%8B%9C%EB%8A%94%20%EA%B8%B8', NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled) VALUES ('1795344502178', '1795344502182706', NULL, '-1225109831', 'K5FF2nf', 'https://example.com/generated', NULL, NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled) VALUES ('1795344502183', '1795344502185109', '1795949302183', '-1225109831', 'ends', 'https://example.com/ends', NULL, NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled) VALUES ('1795344502186', '1795344502187365', NULL, '-1225109831', 'disabled', 'https://example.com/disabled', NULL, 'spam');
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled) VALUES ('1795344502188', '1795344502189177', NULL, NULL, 'deleted', '', NULL, 'deleted');
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled) VALUES ('1795344502190', '1795344502191300', NULL, '-1225109831', 'reported', 'https://example.com/reported', NULL, NULL);
INSERT INTO links (created_ms, place, ends_ms, site, code, original_url, target, disabled) VALUES ('1795344502192', '1795344502193602', NULL, '-1211866521', 'blocked', 'https://sub.blocked.example/', NULL, NULL);

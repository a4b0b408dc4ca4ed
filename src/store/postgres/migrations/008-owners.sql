-- For the lists of people's own links: those of one domain, newest first. Other links aren't in it.
CREATE INDEX links_by_owner ON links
  ((terms::json ->> 'owner'), substr(code, 1, strpos(code, '/')), created_ms, code)
WHERE terms::json ->> 'owner' IS NOT NULL;

-- What the decision made of the value. NULL for states, which the action tells.
ALTER TABLE replaced ADD COLUMN became text;

-- CODE_CASE has one value for ever: with another one, addresses would find other links, or none. Earlier stores match capitals.
CREATE UNIQUE INDEX one_code_case ON remembered_settings (name) WHERE name = 'CODE_CASE';
INSERT INTO remembered_settings (name, value, since_ms)
  SELECT 'CODE_CASE', 'match', 0
  WHERE EXISTS (SELECT 1 FROM links) OR EXISTS (SELECT 1 FROM remembered_settings);

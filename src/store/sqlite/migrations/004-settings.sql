-- Settings that the store must not forget, see remembered-settings.ts. Not exported: another instance has its own.
CREATE TABLE remembered_settings (
  name     TEXT    NOT NULL,
  value    TEXT    NOT NULL,
  since_ms INTEGER NOT NULL, -- 0: for the first value
  PRIMARY KEY (name, since_ms, value)
) STRICT, WITHOUT ROWID;

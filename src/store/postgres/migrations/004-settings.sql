-- Settings that the store must not forget, see remembered-settings.ts. Not exported: another instance has its own.
CREATE TABLE remembered_settings (
  name     text   COLLATE "C" NOT NULL,
  value    text   COLLATE "C" NOT NULL,
  since_ms bigint NOT NULL, -- 0: for the first value
  PRIMARY KEY (name, since_ms, value)
);

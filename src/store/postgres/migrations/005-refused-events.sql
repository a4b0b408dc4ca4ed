-- When Curt sends a refused event again. Those of before are due.
ALTER TABLE refused_events ADD COLUMN next_ms bigint NOT NULL DEFAULT 0;
CREATE INDEX refused_events_by_next ON refused_events (next_ms);

-- Reports are sent before other events. Without "sent": its changes would then update the index.
CREATE INDEX reports_by_seq ON events (seq) WHERE type = 'report.opened';

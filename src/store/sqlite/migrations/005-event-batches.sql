-- The numbers of the events in the last request, in JSON: a retry by another process sends the same ones.
ALTER TABLE event_sender ADD COLUMN batch TEXT NOT NULL DEFAULT '[]';

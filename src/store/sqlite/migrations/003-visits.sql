ALTER TABLE clicks RENAME TO visits;
DROP INDEX clicks_by_stage;

-- Ageing reads this. Rows that have aged fully cost it nothing.
CREATE INDEX visits_by_stage ON visits (stage, day) WHERE stage < 2;

-- How far each source of visits has been added: rows of the sequence that it is at, and the day of the last ones.
ALTER TABLE journals RENAME TO sources;
ALTER TABLE sources RENAME COLUMN journal TO source;
ALTER TABLE sources RENAME COLUMN links TO rows;
ALTER TABLE sources RENAME COLUMN hour TO day;
UPDATE sources SET day = day / 24;

import type { FileDatabase } from "./file/file.ts";

const ADD_SALT = "INSERT INTO salts (day, salt) VALUES (?1, randomblob(32)) ON CONFLICT (day) DO NOTHING";
const FIND_SALT = "SELECT salt FROM salts WHERE day = ?1";
const FORGET_SALTS = "DELETE FROM salts WHERE day < ?1";

/** The salts of visitors' hashes, one for each day. */
export function createSalts(database: FileDatabase) {
  const addSalt = database.statement<unknown, [number]>(ADD_SALT);
  const findSalt = database.statement<{ salt: Uint8Array }, [number]>(FIND_SALT);
  const forgetSalts = database.statement<unknown, [number]>(FORGET_SALTS);

  return {
    /** The salt of a day, which the first caller creates. */
    of(day: number): Uint8Array | undefined {
      addSalt.run(day);
      return findSalt.get(day)?.salt;
    },
    /** Returns how many it deleted. */
    forgetBefore: (day: number): number => forgetSalts.run(day).changes,
  };
}

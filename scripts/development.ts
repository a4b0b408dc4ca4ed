import { resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "..");
/** The database of `npm run dev` and `npm run seed`. They ignore DATABASE_URL in the environment. */
export const DATABASE_URL = `sqlite:${resolve(ROOT, "data/development.db")}`;

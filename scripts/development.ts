import { resolve } from "node:path";

export const ROOT = resolve(import.meta.dir, "..");
/** What `npm run dev` serves and `npm run seed` fills, whatever the environment says. */
export const DATABASE_URL = `sqlite:${resolve(ROOT, "data/development.db")}`;

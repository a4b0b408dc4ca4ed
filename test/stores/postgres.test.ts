import { afterAll } from "bun:test";

import { openPostgresStore } from "../../src/store/postgres/store.ts";
import { startPostgres } from "../postgres.ts";
import { testLinkStore } from "./links.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

testLinkStore("PostgreSQL", async () =>
  openPostgresStore(await server.address("links"), { sizeKnownMs: 20 }),
);

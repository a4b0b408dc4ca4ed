import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { sharePostgres } from "../support/postgres.ts";
import { testCaseStore } from "./cases.ts";
import { testLinkStore } from "./links.ts";
import { testModerationStore } from "./moderation.ts";
import { testOwners } from "./owners.ts";
import { PATIENT } from "./postgres-away.ts";
import { testRequests } from "./requests.ts";
import { testFigures, testSearch } from "./search.ts";
import { testUndo } from "./undo.ts";
import { testUpdates } from "./updates.ts";

const server = await sharePostgres();

/** Another handle on the same database each time, as another machine has one. */
const open = (name: string) => async () =>
  openPostgresStore(await server.address(name), { ...PATIENT, sizeKnownMs: 20, connections: 4 });

testLinkStore("PostgreSQL", open("links"));
testUpdates("PostgreSQL", open("updates"));
testRequests("PostgreSQL", open("requests"));
testModerationStore("PostgreSQL", open("moderation"));
testSearch("PostgreSQL", open("search"));
testFigures("PostgreSQL", open("figures"));
testCaseStore("PostgreSQL", open("cases"));
testOwners("PostgreSQL", open("owners"));
testUndo("PostgreSQL", () => server.address("undo"));

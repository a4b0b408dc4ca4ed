import { testCaseStore } from "./cases.ts";
import { testGuardStore } from "./guard.ts";
import { createMemoryStores } from "./memory.ts";
import { testFigures, testSearch } from "./search.ts";
import { testVisitStore } from "./visits.ts";

const name = "An engine that changes one row at a time";
const openVisits = createMemoryStores();
testVisitStore(name, async () => openVisits());
const openGuard = createMemoryStores();
testGuardStore(name, async () => openGuard());
const openSearch = createMemoryStores();
testSearch(name, async () => openSearch());
testFigures(name, async () => createMemoryStores()());
const openCases = createMemoryStores();
testCaseStore(name, async () => openCases());

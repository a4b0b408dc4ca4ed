import { createMemoryStores } from "./memory.ts";
import { testVisitStore } from "./visits.ts";

const open = createMemoryStores();
testVisitStore("An engine that changes one row at a time", async () => open());

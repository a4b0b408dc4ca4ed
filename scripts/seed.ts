// `npm run seed`: adds links and sixty days of visits to the database of `npm run dev`. Running it again adds more.
import { fillStore } from "../src/cli/demo/sample-life.ts";
import { readConfig } from "../src/config/config.ts";
import { DATABASE_URL } from "./development.ts";

const config = readConfig({ DATABASE_URL });
const { links, visits } = await fillStore(config);
console.log(`${links.length} links and ${visits} visits. npm run dev shows them, for example:`);
for (const { code } of links.slice(0, 5)) console.log(`  ${config.baseUrl}/${code}+`);

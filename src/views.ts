// The thread that makes what is dearer than a redirect: pages, images and documents, over a reader of the store of its own.
import { setPriority } from "node:os";

import type { Config } from "./config.ts";
import { createApiViews } from "./http/api/views.ts";
import { createDomain } from "./http/domain.ts";
import { createHomeViews } from "./http/pages/home.ts";
import { createQr } from "./http/pages/images.ts";
import { createPreview } from "./http/pages/preview.ts";
import { createReference } from "./http/pages/reference.ts";
import { createMaker } from "./http/views/make.ts";
import type { ViewTask } from "./http/views/view.ts";
import { createLookUps } from "./links/links.ts";
import { StoreUnavailable } from "./links/store.ts";
import { openReader, type StoreReader } from "./store/open.ts";
import { performTasks } from "./thread.ts";
import { VERSION } from "./version.ts";
import { createCounts } from "./visits/visits.ts";

/** The first task says what the others need. */
export type ViewsTask = ({ readonly view: "none" } & ViewsConfig) | ViewTask;
export type ViewsConfig = Pick<
  Config,
  "database" | "baseUrl" | "codeHoldMs" | "defaultExpiry" | "statsShown"
> & {
  /** The files that the service has open. */
  readonly storeFiles: readonly string[];
};

/** Where all threads share one core, redirects come first. Only Linux has a priority for each thread. */
const PRIORITY = 10;

let config: ViewsConfig;
let make: ReturnType<typeof createMaker> | undefined;
/** The thread that serves tells the time, so that it never differs between the two. */
let nowMs = 0;

function open() {
  const store = openStore();
  const clock = { nowMs: () => nowMs };
  const links = createLookUps({ ...config, store, clock });
  const visits = createCounts({ store, clock, shown: config.statsShown });
  const shared = { ...config, links, visits, clock, version: VERSION };
  const api = createApiViews(shared);
  const home = createHomeViews(shared);
  return createMaker(createDomain(config.baseUrl), {
    ...createQr(shared),
    home: home.show,
    refusedForm: home.refused,
    reference: createReference(api.describe),
    information: api.information,
    link: api.link,
    statistics: api.statistics,
    document: api.document,
    preview: createPreview(shared),
  });
}

/** The store was there when the service started. */
function openStore(): StoreReader {
  try {
    return openReader(config.database, config.storeFiles);
  } catch (cause) {
    throw new StoreUnavailable(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

if (process.platform === "linux") setPriority(0, PRIORITY);
performTasks((task: ViewsTask) => {
  if (task.view === "none") {
    config = task;
    return undefined;
  }
  ({ nowMs } = task);
  make ??= open();
  return make(task);
});

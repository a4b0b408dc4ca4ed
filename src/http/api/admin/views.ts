import { isProblem } from "../../../links/problem.ts";
import type { Inspection, ListPage } from "../../../moderation/inspection.ts";
import {
  toldCase,
  toldEntry,
  toldFigures,
  toldInspected,
  toldLink,
  toldRule,
} from "../../../moderation/operator-json.ts";
import { parseSearch } from "../../../moderation/search.ts";
import type { Asked } from "../../call.ts";
import { problemJson } from "../../problems.ts";
import { answer } from "../../responses.ts";
import { success } from "../envelope.ts";
import { readPart, writtenSearch } from "./query.ts";
import { type SearchResult, searchSlice } from "./search.ts";

/** What of the operator's API only reads. */
export type AdminApiView = "links" | "link" | "hosts" | "cases" | "figures" | "journal" | "search";

/** What the serving thread sends, beside the request. */
export interface AdminApiTask {
  readonly view: AdminApiView;
  /** Of a slice of a search. */
  readonly part?: ListPage;
  /** The links to show. */
  readonly result?: SearchResult;
}

const NOTHING_YET: SearchResult = { links: [], searched: 0 };

/** Runs on the thread that makes views. Whoever asks has shown the operator's token. */
export function createAdminApiViews(inspection: Inspection) {
  const views: Record<AdminApiView, (call: Asked, task: AdminApiTask) => Promise<Response>> = {
    async links(call, { result: { links: ids, cursor, searched } = NOTHING_YET }) {
      const links = await inspection.links(ids);
      const nowMs = inspection.nowMs();
      return found(call, {
        links: links.map((link) => toldLink(link, nowMs)),
        cursor: cursor ?? null,
        searched: Math.floor(searched * 1000) / 1000,
      });
    },

    async link(call) {
      const inspected = await inspection.look(call.code);
      if (isProblem(inspected)) return problemJson(call, inspected);
      return found(call, toldInspected(inspected, inspection.nowMs()));
    },

    hosts: (call) => list(call, "hosts", inspection.hosts, toldRule),
    journal: (call) => list(call, "entries", inspection.journal, toldEntry),
    cases: (call) => list(call, "cases", inspection.cases, (one) => toldCase(one, inspection.nowMs())),

    async figures(call) {
      return found(call, toldFigures(await inspection.figures()));
    },

    /** The serving thread reads it, so it isn't compressed. */
    async search(call, { part = { limit: 1 } }) {
      const query = parseSearch(writtenSearch(call.request));
      if (isProblem(query)) return problemJson(call, query);
      const result = await searchSlice(inspection, query, part);
      return answer({ type: "application/json", body: JSON.stringify(result) });
    },
  };

  function found(call: Asked, data: unknown): Response {
    return success(call, 200, "operator.found", data);
  }

  async function list<T>(
    call: Asked,
    name: string,
    read: (part: ListPage) => Promise<{ items: readonly T[]; cursor: string | undefined }>,
    tell: (item: T) => unknown,
  ): Promise<Response> {
    const part = readPart(call.request);
    if (isProblem(part)) return problemJson(call, part);
    const { items, cursor } = await read(part);
    return found(call, { [name]: items.map(tell), cursor: cursor ?? null });
  }

  return (call: Asked, data: string) => {
    const task = JSON.parse(data) as AdminApiTask;
    return views[task.view](call, task);
  };
}

import type { FoundPart } from "../../../guard/collect.ts";
import type { Inspection, Part } from "../../../guard/inspection.ts";
import { toldCase, toldEntry, toldFigures, toldInspected, toldLink, toldRule } from "../../../guard/told.ts";
import { isProblem } from "../../../links/problem.ts";
import { targetHost } from "../../../links/target.ts";
import { answer } from "../../answers.ts";
import type { Asked } from "../../call.ts";
import { problemJson } from "../../problems.ts";
import { success } from "../envelope.ts";
import { readPart, readSearch } from "./query.ts";

/** Links that one step of a whole search asks for. */
const COLLECTED_AT_ONCE = 1000;

/** What of the operator's API only reads. */
export type AdminApiView = "links" | "link" | "hosts" | "cases" | "figures" | "journal" | "collect";

/** What the serving thread sends, beside the request. */
export interface AdminApiTask {
  readonly view: AdminApiView;
  /** Where a whole search goes on. */
  readonly cursor?: string | undefined;
}

/** Runs on the thread that makes views. Whoever asks has shown the operator's token. */
export function createAdminApiViews(inspection: Inspection) {
  const views: Record<AdminApiView, (call: Asked, task: AdminApiTask) => Promise<Response>> = {
    async links(call) {
      const query = readSearch(call.request);
      const part = readPart(call.request);
      if (isProblem(query)) return problemJson(call, query);
      if (isProblem(part)) return problemJson(call, part);
      const { links, cursor, lookedBackToMs } = await inspection.find(query, part);
      const nowMs = inspection.nowMs();
      return found(call, {
        links: links.map((link) => toldLink(link, nowMs)),
        cursor: cursor ?? null,
        looked_back_to: lookedBackToMs === undefined ? null : new Date(lookedBackToMs).toISOString(),
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

    /** One step of a whole search. It is read by the serving thread, and so it is not compressed. */
    async collect(call, { cursor }) {
      const query = readSearch(call.request);
      if (isProblem(query)) return problemJson(call, query);
      const step = await inspection.find(query, { cursor, limit: COLLECTED_AT_ONCE });
      const links = step.links.map(({ code, createdMs, target }) => ({
        code,
        createdMs,
        host: targetHost(target),
      }));
      const part: FoundPart = { links, cursor: step.cursor };
      return answer({ type: "application/json", body: JSON.stringify(part) });
    },
  };

  function found(call: Asked, data: unknown): Response {
    return success(call, 200, "operator.found", data);
  }

  async function list<T>(
    call: Asked,
    name: string,
    read: (part: Part) => Promise<{ items: readonly T[]; cursor: string | undefined }>,
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

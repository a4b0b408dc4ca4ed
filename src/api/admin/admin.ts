import type { DetachedCall } from "../../http/call.ts";
import type { Inspection } from "../../moderation/inspection.ts";
import { caseEndpoints, casesView, hostEndpoints, hostsView } from "./decisions.ts";
import {
  type AdminApiOptions,
  type AdminApiTask,
  type AdminApiView,
  type AdminApiViews,
  createEndpoints,
  listView,
  show,
} from "./endpoint.ts";
import { linkEndpoints, linkViews } from "./links.ts";
import { entryJson, figuresJson } from "./operator-json.ts";

/** The operator's API on the serving thread. Every handler checks the token first. */
export function createAdminApi(options: AdminApiOptions) {
  const endpoints = createEndpoints(options);
  return {
    ...linkEndpoints(options, endpoints),
    ...hostEndpoints(options, endpoints),
    ...caseEndpoints(options, endpoints),
    figures: endpoints.show("figures"),
    journal: endpoints.show("journal"),
  };
}

/** The operator's API on the views thread. */
export function createAdminApiViews(inspection: Inspection) {
  const views: AdminApiViews<AdminApiView> = {
    ...linkViews(inspection),
    hosts: hostsView(inspection),
    cases: casesView(inspection),
    journal: listView("entries", inspection.decisions, entryJson),
    figures: async (call) => show(call, figuresJson(await inspection.figures())),
  };
  return (call: DetachedCall, data: string) => {
    const task = JSON.parse(data) as AdminApiTask;
    return views[task.view](call, task);
  };
}

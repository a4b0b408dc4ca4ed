import { isProblem } from "../../links/problem.ts";
import type { Inspection } from "../../moderation/inspection.ts";
import {
  type AdminApiOptions,
  type Endpoints,
  listView,
  noteRequest,
  readBody,
  reasonedRequest,
  WHO,
} from "./endpoint.ts";
import { ruleJson } from "./operator-json.ts";

/** Handlers on the serving thread. */
export const hostEndpoints = ({ operator }: AdminApiOptions, { show, decide }: Endpoints) => ({
  hosts: show("hosts"),

  block: decide(async (call) => {
    const body = await readBody(call, reasonedRequest);
    return isProblem(body) ? body : operator.blockHost(call.code, body, WHO);
  }),

  unblock: decide(async (call) => {
    const body = await readBody(call, noteRequest);
    return isProblem(body) ? body : operator.unblockHost(call.code, body, WHO);
  }),
});

/** On the views thread. */
export const hostsView = (inspection: Inspection) => listView("hosts", inspection.hosts, ruleJson);

import type { Call } from "../http/call.ts";
import { isFromAnotherSite } from "../http/credentials.ts";
import { endpoint } from "../http/endpoint.ts";
import { problemJson } from "../http/problems.ts";
import { BODIES } from "../lib/bounds.ts";
import { shownCode } from "../links/link.ts";
import { isProblem, REASONS } from "../links/problem.ts";
import { MAX_NOTE_LENGTH } from "../moderation/case.ts";
import type { ApiParts } from "./api-parts.ts";
import { envelope, success } from "./envelope.ts";
import { readJson } from "./json-body.ts";
import {
  bodyFailures,
  codeField,
  codeParameter,
  type Entry,
  failure,
  jsonBody,
  linkFailures,
  reference,
  returns,
  string,
} from "./openapi/components.ts";
import { z } from "./openapi/schema.ts";

const REPORT_EXAMPLE = { reason: "phishing", note: "It asks for my bank's password." } as const;

const reasonField = reference(z.enum(REASONS).openapi("Reason"));
const reportRequest = z
  .object({
    reason: reasonField.openapi({ description: "api.report.reason", example: REPORT_EXAMPLE.reason }),
    note: string.nullish().openapi({
      description: "api.report.note",
      "x-max-length": MAX_NOTE_LENGTH,
      example: REPORT_EXAMPLE.note,
    }),
  })
  .openapi("ReportRequest");
const report = z
  .object({
    code: codeField,
    reason: reasonField.openapi({ description: "api.report.given", example: REPORT_EXAMPLE.reason }),
  })
  .openapi("Report");

const AT = "POST /api/v1/links/{code}/reports";

/** The response is the same whether or not the report counts, so it reveals no other reports. */
export const reportLink = endpoint({
  at: AT,
  cost: "work",
  limit: "report",
  entry: {
    tags: ["Reports"],
    operationId: "reportLink",
    summary: "api.report",
    description: "api.report.description",
    request: { params: codeParameter, body: jsonBody(reportRequest, REPORT_EXAMPLE) },
    responses: {
      202: returns("api.report.answer", envelope("reported", report).openapi("ReportResponse")),
      ...bodyFailures,
      403: failure("api.report.cross-site"),
      ...linkFailures("api.report.deleted"),
    },
  } satisfies Entry,
  serve:
    ({ reports }: ApiParts) =>
    async (call: Call) => {
      const { address } = call.client();
      // A page of another site could make each of its visitors report a link.
      if (isFromAnotherSite(call)) return problemJson(call, { kind: "cross-site" });
      const body = await readJson(call.request, BODIES[AT], reportRequest, REPORT_EXAMPLE);
      if (isProblem(body)) return problemJson(call, body);
      const { reason, note } = body;
      const link = await reports.report(call.code, { reason, note: note ?? undefined }, address);
      if (isProblem(link)) return problemJson(call, link);
      const data: z.infer<typeof report> = { code: shownCode(link), reason };
      return success(call, 202, "reported", data);
    },
});

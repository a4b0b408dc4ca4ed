import { askedLanguage } from "../page-language.ts";
import { prefersCsv } from "../responses.ts";
import { queryOf } from "../url.ts";
import type { View } from "./view.ts";

const QR_PARAMETERS = ["size", "margin", "dark", "light", "ecc"];

/**
 * The parameters that views of a link read. Those are the views that many ask for, with whatever query their address got
 * on its way, so the other parameters get nobody a view of their own. Views that are not named here get the whole query.
 */
export const PARAMETERS: Partial<Record<View, readonly string[]>> = {
  preview: ["range", "by", "tz", "language"],
  interstitial: ["language"],
  manage: ["language"],
  link: [],
  statistics: ["from", "to", "interval", "tz", "format", "download"],
  svg: QR_PARAMETERS,
  png: QR_PARAMETERS,
  qr: [...QR_PARAMETERS, "language"],
};

/** All of a query that a view depends on, with its question mark. A language that we do not have is none. */
export function queryFor(view: View, request: Request): string {
  const query = queryOf(request);
  const read = PARAMETERS[view];
  const isCsv = view === "statistics" && prefersCsv(request.headers.get("accept"));
  if ((query === "" && !isCsv) || read === undefined) return query;
  const language = askedLanguage(request);
  const kept = [...new URLSearchParams(query)].filter(
    ([name, value]) => read.includes(name) && value !== "" && name !== "language",
  );
  if (read.includes("language") && language !== undefined) kept.push(["language", language]);
  // The headers of a view do not tell CSV from JSON.
  if (isCsv && !kept.some(([name]) => name === "format")) kept.push(["format", "csv"]);
  return kept.length === 0 ? "" : `?${new URLSearchParams(kept).toString()}`;
}

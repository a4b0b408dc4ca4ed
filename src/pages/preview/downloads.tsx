/** @jsxImportSource ../shared/html */
import { message, sentenceSpace } from "../../locales/messages.ts";
import type { ShownRange } from "./ranges.ts";

interface DownloadsProps {
  readonly language: string;
  readonly code: string;
  readonly range: ShownRange;
}

/** The statistics of a range, as files. */
export function Downloads({ language, code, range }: DownloadsProps) {
  const { from, to, interval, timeZone } = range.request;
  const query = new URLSearchParams({ from, to, interval, tz: timeZone }).toString();
  const address = `/api/v1/links/${encodeURIComponent(code)}/stats?${query}`;
  return (
    <p class="downloads">
      {message(language, "preview.download")}
      {sentenceSpace(language)}
      <a href={`${address}&format=csv`} rel="nofollow" download>
        CSV
      </a>{" "}
      <a href={`${address}&download=true`} rel="nofollow" download>
        JSON
      </a>
    </p>
  );
}

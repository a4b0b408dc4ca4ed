/** @jsxImportSource ./html */
import { message } from "../language/messages.ts";
import type { Statistics, StatisticsRequest } from "../visits/statistics.ts";

type DownloadsProps = Pick<Statistics, "from" | "to"> &
  Pick<StatisticsRequest, "interval" | "timeZone"> & { readonly language: string; readonly code: string };

/** The statistics shown, as files. */
export function Downloads({ language, code, from, to, interval, timeZone }: DownloadsProps) {
  const query = new URLSearchParams({ from, to, interval, tz: timeZone }).toString();
  const address = `/api/v1/links/${encodeURIComponent(code)}/stats?${query}`;
  return (
    <p class="downloads">
      {message(language, "preview.download")}{" "}
      <a href={`${address}&format=csv`} rel="nofollow" download>
        CSV
      </a>{" "}
      <a href={`${address}&download=true`} rel="nofollow" download>
        JSON
      </a>
    </p>
  );
}

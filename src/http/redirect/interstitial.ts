import type { Recorder } from "../../visits/recorder.ts";
import { prefersHtml } from "../answers.ts";
import type { Call } from "../call.ts";
import { askedLanguage } from "../page-language.ts";
import { problemAnswer, problemOf } from "../problems.ts";
import type { Views } from "../views/views.ts";
import type { Entry } from "./link-table.ts";

/**
 * Whether the reader followed a link on one of our own pages (Fetch Metadata, section 2.4). Only previews lead on, so
 * this reader has seen the preview.
 */
export function comesFromHere(headers: Headers): boolean {
  return headers.get("sec-fetch-site") === "same-origin";
}

/** The preview that people see before a link leads on. */
export interface Interstitial {
  /** Whether this request gets the preview. Readers who choose their language on it get it again. */
  isFor(entry: Entry, call: Call, nowMs: number): boolean;
  show(call: Call): Promise<Response>;
}

export interface InterstitialOptions {
  readonly recorder: Pick<Recorder, "isBrowser">;
  readonly views: Pick<Views, "ask">;
  readonly onFault: (error: unknown) => void;
}

export function createInterstitial({ recorder, views, onFault }: InterstitialOptions): Interstitial {
  return {
    isFor({ previewUntilMs }, { request, headers }, nowMs) {
      if (nowMs >= previewUntilMs) return false;
      if (!prefersHtml(headers.get("accept")) || !recorder.isBrowser(headers)) return false;
      return !comesFromHere(headers) || askedLanguage(request) !== undefined;
    },
    show: (call) =>
      views.ask("interstitial", call).catch((error: unknown) => {
        onFault(error);
        return problemAnswer(call, problemOf(error));
      }),
  };
}

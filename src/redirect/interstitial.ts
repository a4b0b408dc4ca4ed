import type { Call } from "../http/call.ts";
import { askedLanguage } from "../http/page-language.ts";
import { problemAnswer, problemOf } from "../http/problems.ts";
import { prefersHtml } from "../http/responses.ts";
import type { Views } from "../http/views/views.ts";
import type { Recorder } from "../visits/recorder.ts";

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
  isFor(call: Call): boolean;
  /** The same for a reader of one of our own pages that did not say where the link leads. */
  isForPerson(call: Call): boolean;
  show(call: Call): Promise<Response>;
}

export interface InterstitialOptions {
  readonly recorder: Pick<Recorder, "isBrowser">;
  readonly views: Pick<Views, "ask">;
  readonly onFault: (error: unknown) => void;
}

export function createInterstitial({ recorder, views, onFault }: InterstitialOptions): Interstitial {
  const isForPerson = ({ headers }: Call) =>
    prefersHtml(headers.get("accept")) && recorder.isBrowser(headers);

  return {
    isForPerson,
    isFor: (call) =>
      isForPerson(call) && (!comesFromHere(call.headers) || askedLanguage(call.request) !== undefined),
    show: (call) =>
      views.ask("interstitial", call).catch((error: unknown) => {
        onFault(error);
        return problemAnswer(call, problemOf(error));
      }),
  };
}

import type { Call } from "../http/call.ts";
import { urlLanguage } from "../http/page-language.ts";
import { asProblem } from "../http/problems.ts";
import { prefersHtml } from "../http/responses.ts";
import { visitorQuery } from "../http/url.ts";
import { header } from "../lib/bounds.ts";
import { forwardsPath, isLimited, type Link } from "../links/link.ts";
import type { InterstitialDetails } from "../pages/interstitial/page.tsx";
import { answerPageProblem } from "../pages/problem/answer.ts";
import type { Recorder } from "../visits/recorder.ts";
import { pathOfVisit } from "./forwarded-path.ts";

/**
 * Whether the reader followed a link on one of our own pages (Fetch Metadata, section 2.4). Only previews link to short
 * addresses, so this reader has seen the preview.
 */
export function isFromOwnPage(headers: Headers): boolean {
  return header(headers, "sec-fetch-site", "?") === "same-origin";
}

export interface InterstitialOptions {
  readonly recorder: Pick<Recorder, "isBrowser">;
  /** Shows the page. */
  readonly show: (call: Call, details?: InterstitialDetails) => Response | Promise<Response>;
  readonly onFault: (error: unknown) => void;
}

/** The preview that people see before the redirect. */
export interface Interstitial {
  /** Whether a reader of one of our own pages gets the preview, if that page had no destination. */
  isForPerson(call: Call): boolean;
  /** Whether this request gets the preview. Choosing a language on the preview shows it again. */
  isFor(call: Call): boolean;
  /** Faults become problems. The form for a limited link gets a text of its own, so that it uses up one visit. The page
   * shows the target of a link that passes the path on as given here, with the path. */
  show(call: Call, link?: Link): Promise<Response>;
}

export function createInterstitial({ recorder, show, onFault }: InterstitialOptions): Interstitial {
  const isForPerson = ({ headers }: Call) =>
    prefersHtml(header(headers, "accept")) && recorder.isBrowser(headers);

  return {
    isForPerson,
    isFor: (call) =>
      isForPerson(call) && (!isFromOwnPage(call.headers) || urlLanguage(call.request) !== undefined),
    async show(call, link) {
      // Read the client's address now: it is lost if the visitor hangs up while the page loads.
      call.client();
      try {
        if (link === undefined) return await show(call);
        const sent = visitorQuery(call.request, link);
        return await show(call, {
          ...(sent !== "" && { sent }),
          ...(isLimited(link) && { form: crypto.randomUUID() }),
          ...(forwardsPath(link) && { target: link.target, path: pathOfVisit(call.request) }),
        });
      } catch (error) {
        onFault(error);
        return answerPageProblem(call, asProblem(error));
      }
    },
  };
}

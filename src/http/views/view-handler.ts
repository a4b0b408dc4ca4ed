import type { Asked } from "../call.ts";
import type { Domain } from "../domain.ts";
import type { MadeView, View, ViewTask } from "./view.ts";

/** `data` is the task's `data`. */
export type ViewHandler = (call: Asked, data: string) => Response | Promise<Response>;

/** Runs on the thread that makes views, and turns a task into its answer. Throws what the handler throws. */
export function createMaker(domain: Domain, handlers: Readonly<Record<View, ViewHandler>>) {
  return async ({ view, code, query, headers, known, data }: ViewTask): Promise<MadeView> => {
    const request = new Request(`${domain.origin}/${query}`, {
      headers: JSON.parse(headers) as Record<string, string>,
    });
    if (known !== "") request.headers.set("If-None-Match", known);
    const response = await handlers[view]({ request, headers: request.headers, code, domain }, data);
    return toMade(response);
  };
}

async function toMade(response: Response): Promise<MadeView> {
  const body = await response.bytes();
  const { status, headers } = response;
  if (status === 200 && !headers.has("etag")) headers.set("ETag", `"${Bun.hash(body).toString(36)}"`);
  return { status, headers: JSON.stringify(Object.fromEntries(headers)), body };
}

import { pathOf, queryOf } from "../http/url.ts";

/** A request as it reached the server: behind a HEAD, Hono sees a GET. */
export interface Arrived {
  readonly request: Request;
  readonly server: Bun.Server<unknown>;
  /** The template of the route that took it. */
  route?: string | undefined;
  /** Of a request to the API. See `request-id.ts`. */
  id?: string | undefined;
}

/** Reading on to the end of a longer body, only to throw it away, is not worth the connection. In bytes. */
const MAX_UNREAD_BYTES = 1024 * 1024;

export function asGet(request: Request): Request {
  return new Request(`http://localhost${pathOf(request)}${queryOf(request)}`, { headers: request.headers });
}

/** Closes the connection after an answer if the rest of a body that was refused or never read may be long. */
export function closedIfUnread({ headers }: Request, response: Response): Response {
  const mayGoOn = () =>
    headers.has("transfer-encoding") || Number(headers.get("content-length")) > MAX_UNREAD_BYTES;
  if (response.status >= 400 && mayGoOn()) response.headers.set("Connection", "close");
  return response;
}

import type { BODIES } from "../lib/bounds.ts";
import type { RateLimitName } from "../moderation/rate-limits.ts";
import type { Call, DetachedCall, Handler } from "./call.ts";
import type { Limited } from "./problems.ts";

/**
 * The price of a request:
 * - `little`: about as much as a redirect, or a request of the operator. It never waits.
 * - `work`: more. It counts as a view, and waits while redirects go first.
 * - `create`: it creates links. Its limit counts it or refuses it, then it waits like `work`.
 * - `shared`: a page that is the same for all readers, so it is `little`. With a query, it is `work`.
 */
export type Cost = "little" | "work" | "create" | "shared";

/** The address, if its body has a bound. Otherwise a text for the compiler's error. */
type Bounded<Address extends string> = Address extends `${"POST" | "PUT" | "PATCH"} ${string}`
  ? Address extends keyof typeof BODIES
    ? Address
    : `${Address} needs a bound for its body: add it to BODIES in lib/bounds.ts`
  : Address;

/** A handler that is limited in its own way. */
export interface LimitedHandler {
  readonly handle: Handler;
  /** Renders refusals by the declared limit, such as a form that keeps the typed text. */
  refuse?(call: Call, problem: Limited): Response | Promise<Response>;
  /** Limits the handler instead of the declared limit. */
  limit?(handle: Handler): Handler;
}

/** One method of one path, declared in a single place. The router, the OpenAPI document and both threads read it. */
export interface Endpoint<Address extends string = string, Parts = never, ViewParts = never> {
  /** The method and the path in OpenAPI's syntax, such as "GET /api/v1/links/{code}". HEAD is answered like GET. */
  readonly at: Address;
  readonly cost: Cost;
  /** Requests count against this limit unless they fail. */
  readonly limit?: RateLimitName;
  /** The response is sent once the change has taken effect in this process. */
  readonly changesLinks?: boolean;
  /** Scripts of every origin may read the response. Always so for the public API. */
  readonly forEveryOrigin?: boolean;
  /** The OpenAPI entry without method and path. Endpoints that have none aren't documented. */
  readonly entry?: object;
  readonly view?: View<never, ViewParts>;
  /** Returns the handler on the serving thread. Called once per domain. */
  readonly serve: (parts: Parts, show: Show<never>) => Handler | LimitedHandler;
}

/** A page, image or document that costs more than a few redirects, so the views thread renders it. */
export interface View<Data, ViewParts> {
  /**
   * The query parameters that the view depends on. Default: all. Addresses collect others on their way, which must not create
   * views of their own.
   */
  readonly parameters?: readonly string[];
  /** Whether `Accept: text/csv` means `?format=csv`. */
  readonly hasCsv?: boolean;
  /** Whether its tag is known before rendering. A view isn't rendered for a caller that has its tag. */
  readonly isTaggedFirst?: boolean;
  /** The operator's views have places of their own in the queue, and are never shared. Others without data are. */
  readonly isForOperator?: boolean;
  /** Called once per domain, on the views thread. The handler gets the request and what `serve` adds to it. */
  readonly render: (parts: ViewParts) => (call: DetachedCall, data: Data) => Response | Promise<Response>;
}

/** Responds with the view of the endpoint. */
export type Show<Data = unknown> = (
  call: Call,
  ...data: undefined extends Data ? [data?: Data] : [data: Data]
) => Promise<Response>;

export interface ViewEndpoint<
  Address extends string,
  Data,
  Parts = never,
  ViewParts = never,
> extends Endpoint<Address, Parts, ViewParts> {
  readonly view: View<Data, ViewParts>;
}

/** Declares an endpoint that is answered on the serving thread. */
export function endpoint<const Address extends string, Parts = unknown>(
  declaration: Omit<Endpoint<Address, Parts>, "view">,
): Endpoint<Address, Parts, unknown> {
  return declaration;
}

/** Declares an endpoint with a view. Without `serve`, each request gets the view. The type of its data is that of `render`. */
export function viewEndpoint<const Address extends string, ViewParts, Data = undefined, Parts = unknown>(
  declaration: Omit<Endpoint<Address>, "at" | "view" | "serve"> & {
    readonly at: Address;
    readonly view: View<Data, ViewParts>;
    readonly serve?: (parts: Parts, show: Show<Data>) => Handler | LimitedHandler;
  },
): ViewEndpoint<Address, Data, Parts, ViewParts> {
  const { serve = (_parts: Parts, show: Show<Data>) => (call: Call) => (show as Show)(call) } = declaration;
  return { ...declaration, serve: (parts, show) => serve(parts, show as Show<Data>) };
}

/** The path in the address of an endpoint. */
export function addressPath(at: string): string {
  return at.slice(at.indexOf(" ") + 1);
}

/** Lists endpoints. Another address than the declared one doesn't compile, and neither does a body without a bound. */
export function table<Parts, ViewParts>() {
  return <T extends { readonly [At in keyof T]: Endpoint<Bounded<At & string>, Parts, ViewParts> }>(
    endpoints: T,
  ): T => endpoints;
}

import { expect, test } from "bun:test";

import { endpoint, addressPath, table } from "../../src/http/endpoint.ts";
import { OPERATOR, PUBLIC } from "../../src/server/routes.ts";

const declare = <const Address extends string>(at: Address) =>
  endpoint({ at, cost: "little", serve: () => () => new Response() });

test("a table takes only endpoints at their declared addresses, with a bound for each body", () => {
  expect(
    table()({
      "GET /docs": declare("GET /docs"),
      // @ts-expect-error: it is declared at another address.
      "GET /": declare("GET /docs"),
      // @ts-expect-error: it needs a bound for its body: add it to BODIES in lib/bounds.ts.
      "POST /unbounded": declare("POST /unbounded"),
    }),
  ).toBeObject();
});

const endpoints = Object.entries({ ...PUBLIC, ...OPERATOR });

test("every endpoint is listed at its own address", () => {
  expect(endpoints.map(([, { at }]) => at)).toEqual(endpoints.map(([address]) => address) as never);
});

test("only the operator's endpoints are below /admin and /api/v1/admin, and they cost little", () => {
  const isOperators = (path: string) => /^\/(?:api\/v1\/)?admin(?:\/|$)/.test(path);
  expect(
    Object.values(PUBLIC)
      .map(({ at }) => addressPath(at))
      .filter(isOperators),
  ).toEqual([]);
  for (const declared of Object.values(OPERATOR)) {
    expect(isOperators(addressPath(declared.at)), declared.at).toBeTrue();
    expect(declared.cost, declared.at).toBe("little");
  }
});

test("every endpoint that changes links waits until the change has taken effect", () => {
  const waits = endpoints.filter(([, { changesLinks = false }]) => changesLinks).map(([address]) => address);
  expect(waits.toSorted()).toEqual(
    endpoints
      .map(([address]) => address)
      .filter((address) => /^(?:PUT|PATCH|DELETE) |^POST .*(?:manage|admin\/)/.test(address))
      .filter((address) => address !== "POST /admin/sign-out")
      .toSorted(),
  );
});

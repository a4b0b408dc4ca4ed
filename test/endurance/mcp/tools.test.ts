import { expect, test } from "bun:test";

import { connect } from "../../mcp/connect.ts";
import { freePort } from "../../support/free-port.ts";
import { startService } from "../../support/service.ts";

test("an unreachable service fails a call, and the tools work again once it is back", async () => {
  const port = await freePort();
  await using lost = await connect({ CURT_URL: `http://127.0.0.1:${port}` });
  expect((await lost.client.listTools()).tools).toHaveLength(5);
  const { isError, text } = await lost.call("look_inside", { link: "abc" });
  expect([isError, text]).toEqual([true, expect.stringContaining(`127.0.0.1:${port}`)]);
  await using back = await startService({ PORT: String(port) });
  expect((await lost.call("shorten", { target: "https://example.com/" })).isError).toBeFalse();
  expect((await back.fetch("/readyz")).status).toBe(200);
});

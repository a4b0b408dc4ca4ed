import { expect, test } from "bun:test";

import { HTML } from "../http/markup.ts";
import { startProgram } from "../service.ts";
import { askAs, TOKEN, untilAnswered } from "./operator.ts";

test("every process knows a session, and what was decided in another one", async () => {
  await using program = await startProgram({ ADMIN_TOKEN: TOKEN, PROCESSES: "3" });
  await program.shorten({ original_url: "https://example.com/", custom_code: "bad" });
  const signedIn = await program.fetch("/admin", {
    method: "POST",
    headers: HTML,
    body: new URLSearchParams({ token: TOKEN }),
  });
  const [Cookie = ""] = (signedIn.headers.get("set-cookie") ?? "").split(";");
  // Each on a connection of its own, which any process may get.
  const headers = { ...HTML, Cookie, Connection: "close" };
  for (let nth = 0; nth < 20; nth++)
    expect((await program.fetch("/admin/journal", { headers })).status).toBe(200);
  expect((await askAs(program)("POST", "links/bad/disable", { reason: "spam" })).data.changed).toBe(true);
  for (let nth = 0; nth < 20; nth++) await untilAnswered(program, "bad", 410);
});

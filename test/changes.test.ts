import { expect, test } from "bun:test";

import { endLink, startProgram } from "./service.ts";

const original_url = "https://example.com/";

test("a link that is ended early in one process ends in all others, even if it is in their cache", async () => {
  await using program = await startProgram({ PROCESSES: "2" });
  const codes = Array.from({ length: 20 }, (_, nth) => `early${nth}`);
  const status = async (code: string) => {
    // Use a new connection for each request, so that both processes get some of them.
    const headers = { Connection: "close" };
    return (await program.fetch(`/${code}`, { headers })).status;
  };
  for (const custom_code of codes) await program.shorten({ original_url, custom_code });
  for (const code of [...codes, ...codes]) expect(await status(code)).toBe(302);

  const [first = "", ...others] = codes;
  await endLink(program, first, Date.now() - 1);

  const ended = async () =>
    (await Promise.all(Array.from({ length: 12 }, () => status(first)))).every(isGone);
  while (!(await ended())) await Bun.sleep(20);
  for (let nth = 0; nth < 30; nth++) expect(await status(first)).toBe(410);
  for (const code of others) expect(await status(code)).toBe(302);
});

function isGone(status: number): boolean {
  return status === 410;
}

import { expect, test } from "bun:test";

import { readBlocks } from "../../src/transfer/lines.ts";

test("a line of an export that is too long is one line, and its end is none", async () => {
  const long = "x".repeat(4_200_000);
  async function* bytes() {
    for (const chunk of [`a\n${long}`, long, long, '{"kind":"end"}\nb\n', "c"]) yield Buffer.from(chunk);
  }
  const lines: (string | undefined)[] = [];
  let read = { end: 0, sha256: "" };
  for await (const { lines: some, ...place } of readBlocks(bytes())) {
    lines.push(...some);
    read = place;
  }
  expect(lines).toEqual(["a", undefined, "b", "c"]);
  const all = `a\n${long.repeat(3)}{"kind":"end"}\nb\nc`;
  const sha256 = new Bun.CryptoHasher("sha256").update(all).digest("hex");
  expect(read).toMatchObject({ end: all.length, sha256 });
});

import { expect, test } from "bun:test";

import { readBlocks } from "../../src/transfer/lines.ts";

test("an overlong line of an export is one line, and its last part isn't taken for the end of the file", async () => {
  const long = "x".repeat(4_200_000);
  async function* bytes() {
    for (const chunk of [`a\n${long}`, long, long, '{"kind":"end"}\nb\n', "c"]) yield Buffer.from(chunk);
  }
  const lines: (string | undefined)[] = [];
  let read = "";
  for await (const { lines: some, sha256 } of readBlocks(bytes())) {
    lines.push(...some);
    read = sha256;
  }
  expect(lines).toEqual(["a", undefined, "b", "c"]);
  const beforeLast = `a\n${long.repeat(3)}{"kind":"end"}\nb\n`;
  expect(read).toBe(new Bun.CryptoHasher("sha256").update(beforeLast).digest("hex"));
});

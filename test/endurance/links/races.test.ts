import { expect, test } from "bun:test";

import { sendUntilTaken } from "../../support/retry.ts";
import { startProgram, temporaryFolder } from "../../support/service.ts";

test("500 parallel creates of one code in two processes create exactly one link", async () => {
  using folder = temporaryFolder();
  await using one = await startProgram({}, { folder: folder.path });
  await using two = await startProgram({}, { folder: folder.path });
  for (const program of [one, two]) program.expectFaults();
  for (let round = 0; round < 3; round++) {
    const custom_code = `상품${round}`;
    const answers = await Promise.all(
      Array.from({ length: 500 }, async (_, nth) => {
        const original_url = `https://example.com/${nth}`;
        const program = nth % 2 === 0 ? one : two;
        const { status } = await sendUntilTaken(() => program.shorten({ original_url, custom_code }));
        return { status, original_url };
      }),
    );
    const won = answers.filter(({ status }) => status === 201);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(499);
    for (const process of [one, two]) {
      const followed = await process.fetch(`/${encodeURIComponent(custom_code)}`);
      expect(followed.headers.get("location")).toBe(won[0]?.original_url as string);
    }
  }
});

test("ten processes that start simultaneously on a new file share one store", async () => {
  using folder = temporaryFolder();
  const programs = await Promise.all(
    Array.from({ length: 10 }, () => startProgram({}, { folder: folder.path })),
  );
  for (const [nth, program] of programs.entries()) {
    expect(
      (await program.shorten({ original_url: "https://example.com/", custom_code: `p${nth}` })).status,
    ).toBe(201);
  }
  for (const program of programs) expect((await program.fetch("/p9")).status).toBe(302);
  await Promise.all(programs.map((program) => program[Symbol.asyncDispose]()));
});

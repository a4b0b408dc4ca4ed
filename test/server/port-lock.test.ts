import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { lockPort } from "../../src/server/listen.ts";
import { freePort } from "../support/free-port.ts";

const MODULE = join(import.meta.dir, "../../src/server/listen.ts");
const IN_USE = { code: "EADDRINUSE" };

for (const platform of process.platform === "linux" ? (["linux", "darwin"] as const) : (["darwin"] as const))
  describe(`a locked port on ${platform}`, () => {
    const lock = (host: string, port: number) => lockPort(host, port, platform);
    const lockOnce = async (host: string, port: number) => (await lock(host, port))[Symbol.dispose]();

    test("is refused on the same addresses until the lock ends", async () => {
      const port = await freePort();
      {
        using _ = await lock("127.0.0.1", port);
        for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "::"])
          expect(lock(host, port)).rejects.toMatchObject(IN_USE);
      }
      for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "::"]) await lockOnce(host, port);
    });

    test("is free on another address, and so is another port", async () => {
      const port = await freePort();
      using _ = await lock("127.0.0.1", port);
      await lockOnce("127.0.0.2", port);
      await lockOnce("127.0.0.1", await freePort());
    });

    test("is free as soon as its process is killed, even if a child lives on", async () => {
      const port = await freePort();
      const script = `
        const { lockPort } = await import(${JSON.stringify(MODULE)});
        globalThis.lock = await lockPort("127.0.0.1", ${port}, "${platform}");
        console.log(Bun.spawn(["sleep", "60"]).pid);
        setInterval(() => {}, 1000);`;
      const holder = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
      const { value } = await holder.stdout.getReader().read();
      const child = Number(new TextDecoder().decode(value));
      try {
        expect(lock("127.0.0.1", port)).rejects.toMatchObject(IN_USE);
        holder.kill("SIGKILL");
        await holder.exited;
        await lockOnce("127.0.0.1", port);
        expect(process.kill(child, 0)).toBeTrue();
      } finally {
        process.kill(child, "SIGKILL");
      }
    });
  });

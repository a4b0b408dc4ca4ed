import { describe, expect, test } from "bun:test";

import { BASE_URL, ROOT, type Running, startHere, temporaryFolder } from "../service.ts";
import { decoded, readCurl } from "./samples.ts";

describe("what comes with Curt is shown so that it works here:", () => {
  async function samples(service: Running) {
    const html = await (await service.fetch("/docs")).text();
    const boxes = html.matchAll(/<p class="caption">(\w+)<\/p><pre[^>]*>([\s\S]*?)<\/pre>/g);
    const shown = [...boxes].map(([, name, code = ""]) => [name, decoded(code)]);
    return Object.fromEntries(shown) as Record<"TypeScript" | "Shell" | "MCP" | "curl", string>;
  }

  for (const token of ["", "a-token-that-is-long-enough"]) {
    const withToken = token === "" ? "without a token" : "with a token";
    const start = () => startHere(token === "" ? {} : { CREATE_TOKEN: token });
    const filled = (sample: string, service: Running) =>
      sample.replace(BASE_URL, service.origin).replace("YOUR_TOKEN", token);

    test(`curl, ${withToken}`, async () => {
      await using service = await start();
      const { url, method, headers, body = "" } = readCurl(filled((await samples(service)).curl, service));
      expect(method).toBe("GET");
      // With -d, curl sends a POST.
      const response = await fetch(url, { method: "POST", headers, body });
      expect(response.status).toBe(201);
    });

    test(`the client, ${withToken}`, async () => {
      await using service = await start();
      using folder = temporaryFolder();
      const program = filled((await samples(service)).TypeScript, service);
      await Bun.write(
        `${folder.path}/program.ts`,
        program.replace("@curt/client", `${ROOT}/client/client.ts`),
      );
      const child = Bun.spawn([process.execPath, `${folder.path}/program.ts`], { stderr: "inherit" });
      expect(await new Response(child.stdout).text()).toMatch(/^https:\/\/curt\.example\/\w+\/\n$/);
    });

    test(`the command, ${withToken}`, async () => {
      await using service = await start();
      const script = filled((await samples(service)).Shell, service);
      const run = script.replace(/^curt /m, `'${process.execPath}' '${ROOT}/src/main.ts' `);
      const child = Bun.spawn(["sh", "-c", run], { stderr: "inherit" });
      expect(await new Response(child.stdout).text()).toMatch(/^https:\/\/curt\.example\/\w+\/?\n$/);
    });

    test(`the MCP server, ${withToken}`, async () => {
      await using service = await start();
      const { mcpServers } = JSON.parse(filled((await samples(service)).MCP, service)) as {
        mcpServers: { curt: { args: string[]; env: Record<string, string> } };
      };
      expect(mcpServers.curt.args).toEqual(["mcp"]);
      expect(mcpServers.curt.env).toEqual({
        CURT_URL: service.origin,
        ...(token !== "" && { CURT_TOKEN: token }),
      });
    });
  }
});

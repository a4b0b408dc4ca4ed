import { describe, expect, test } from "bun:test";

import { BASE_URL, PROGRAM, ROOT, type Running, shareService, temporaryFolder } from "../service.ts";
import { decoded, readCurl } from "./samples.ts";

describe("what comes with Curt is shown so that it works here:", () => {
  async function samplesOf(service: Running) {
    const html = await (await service.fetch("/docs")).text();
    const boxes = html.matchAll(/<p class="caption">(\w+)<\/p><pre[^>]*>([\s\S]*?)<\/pre>/g);
    const shown = [...boxes].map(([, name, code = ""]) => [name, decoded(code)]);
    return Object.fromEntries(shown) as Record<"TypeScript" | "Shell" | "MCP" | "curl", string>;
  }

  describe.each(["", "a-token-that-is-long-enough"])("with the token %j", (token) => {
    const service = shareService(token === "" ? {} : { CREATE_TOKEN: token });
    const filled = (sample: string) => sample.replace(BASE_URL, service.origin).replace("YOUR_TOKEN", token);

    test("curl", async () => {
      const { url, method, headers, body = "" } = readCurl(filled((await samplesOf(service)).curl));
      expect(method).toBe("GET");
      // With -d, curl sends a POST.
      const response = await fetch(url, { method: "POST", headers, body });
      expect(response.status).toBe(201);
    });

    test("the client", async () => {
      using folder = temporaryFolder();
      const program = filled((await samplesOf(service)).TypeScript);
      await Bun.write(
        `${folder.path}/program.ts`,
        program.replace("@curt/client", `${ROOT}/client/client.ts`),
      );
      const child = Bun.spawn([process.execPath, `${folder.path}/program.ts`], { stderr: "inherit" });
      expect(await new Response(child.stdout).text()).toMatch(/^https:\/\/curt\.example\/\w+\/\n$/);
    });

    test("the command", async () => {
      const script = filled((await samplesOf(service)).Shell);
      const run = script.replace(/^curt /m, `'${process.execPath}' '${PROGRAM}' `);
      const child = Bun.spawn(["sh", "-c", run], { stderr: "inherit" });
      expect(await new Response(child.stdout).text()).toMatch(/^https:\/\/curt\.example\/\w+\/?\n$/);
    });

    test("the MCP server", async () => {
      const { mcpServers } = JSON.parse(filled((await samplesOf(service)).MCP)) as {
        mcpServers: { curt: { args: string[]; env: Record<string, string> } };
      };
      expect(mcpServers.curt.args).toEqual(["mcp"]);
      expect(mcpServers.curt.env).toEqual({
        CURT_URL: service.origin,
        ...(token !== "" && { CURT_TOKEN: token }),
      });
    });
  });
});

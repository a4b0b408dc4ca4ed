import { describe, expect, test } from "bun:test";

import { BASE_URL, PROGRAM, ROOT, shareService, startService, temporaryFolder } from "../support/service.ts";
import { readCurl, samplesIn } from "./samples.ts";

const TOKEN = "a-token-that-is-long-enough";
const service = shareService({ CREATE_TOKEN: TOKEN });

/** A sample of the documentation page, with the address and the token filled in. */
async function sampleOf(name: "TypeScript" | "Shell" | "MCP" | "curl"): Promise<string> {
  const html = await (await service.fetch("/docs")).text();
  const [start = ""] = /<section id="start"[\s\S]*?<\/section>/.exec(html) ?? [];
  const samples = samplesIn(start);
  return (samples[name] ?? "").replace(BASE_URL, service.origin).replace("YOUR_TOKEN", TOKEN);
}

describe("the samples on /docs", () => {
  test("create a link with curl", async () => {
    const { url, method, headers, body = "" } = readCurl(await sampleOf("curl"));
    expect(method).toBe("GET");
    // With -d, curl sends a POST.
    expect((await fetch(url, { method: "POST", headers, body })).status).toBe(201);
  });

  test("create a link with the client library", async () => {
    using folder = temporaryFolder();
    const program = (await sampleOf("TypeScript")).replace("@curt/client", `${ROOT}/client/client.ts`);
    await Bun.write(`${folder.path}/program.ts`, program);
    const child = Bun.spawn([process.execPath, `${folder.path}/program.ts`], { stderr: "inherit" });
    expect(await new Response(child.stdout).text()).toMatch(/^https:\/\/curt\.example\/\w+\/\n$/);
  });

  test("create a link with the command", async () => {
    const script = (await sampleOf("Shell")).replace(/^curt /m, `'${process.execPath}' '${PROGRAM}' `);
    const child = Bun.spawn(["sh", "-c", script], { stderr: "inherit" });
    expect(await new Response(child.stdout).text()).toMatch(/^https:\/\/curt\.example\/\w+\/?\n$/);
  });

  test("configure the MCP server for this instance and its token", async () => {
    const { mcpServers } = JSON.parse(await sampleOf("MCP"));
    expect(mcpServers.curt).toMatchObject({
      args: ["mcp"],
      env: { CURT_URL: service.origin, CURT_TOKEN: TOKEN },
    });
  });
});

test("the samples on /docs have no token if the instance needs none", async () => {
  await using open = await startService();
  expect(await (await open.fetch("/docs")).text()).not.toMatch(/YOUR_TOKEN|CURT_TOKEN/);
});

/** What is shortened in samples that are about nothing else. */
const LONG = "https://example.com/a/long/address";

/** How to use this instance with what comes with Curt, and with curl. Each sample is whole. */
export function clientSamples(base: string, needsToken: boolean) {
  return {
    TypeScript: `import { createClient } from "@curt/client";

const curt = createClient({
  baseUrl: "${base}",${needsToken ? '\n  token: "YOUR_TOKEN",' : ""}
});
const { short_url } = await curt.shorten(
  "${LONG}",
);
console.log(short_url);`,
    shell: `export CURT_URL=${base}${needsToken ? "\nexport CURT_TOKEN=YOUR_TOKEN" : ""}
curt shorten ${LONG}`,
    mcp: `{
  "mcpServers": {
    "curt": {
      "command": "curt",
      "args": ["mcp"],
      "env": {
        "CURT_URL": "${base}"${needsToken ? ',\n        "CURT_TOKEN": "YOUR_TOKEN"' : ""}
      }
    }
  }
}`,
    curl: [
      `curl ${base}/api/v1/shorten`,
      ...(needsToken ? ["  -H 'Authorization: Bearer YOUR_TOKEN'"] : []),
      `  -H 'Content-Type: application/json'`,
      `  -d '{"original_url": "${LONG}"}'`,
    ].join(" \\\n"),
  };
}

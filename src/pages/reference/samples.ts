import {
  answerOf,
  isRedirect,
  needs,
  type Operation,
  type Parameter,
} from "../../api/openapi/description.ts";

interface Call {
  readonly method: string;
  readonly url: string;
  /** An object of strings, which JSON, JavaScript and Python write in the same way. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** The file for a response that isn't JSON. */
  readonly file: string | undefined;
  /** Whether the sample prints the redirect instead of following it. */
  readonly redirects: boolean;
}

/** Sample calls of an operation by language. Each is a complete program. */
export function samplesOf(base: string, operation: Operation): Record<string, string> {
  const { method, path } = operation;
  const [kind] = answerOf(operation).type.split("/");
  const file = kind !== "image" ? undefined : `${kind}${/\.\w+$/.exec(path)?.[0] ?? ""}`;
  const call = {
    method,
    url: addressOf(base, operation),
    body: bodyOf(operation),
    headers: {
      ...(operation.requestBody !== undefined && { "Content-Type": "application/json" }),
      ...(needs(operation, "token") && { Authorization: "Bearer YOUR_TOKEN" }),
      ...(needs(operation, "key") && { Authorization: "Bearer YOUR_KEY" }),
    },
    file,
    redirects: isRedirect(operation),
  };
  return { curl: curl(call), JavaScript: javaScript(call), Python: python(call) };
}

/** The example body, for the samples and the form. */
export function bodyOf({ requestBody }: Operation): unknown {
  return requestBody?.content["application/json"]?.example;
}

/** The example value of a parameter; "" for optional parameters without a default. */
export function valueOf({ required, schema }: Pick<Parameter, "required" | "schema">): string {
  const { example = "", default: fallback } = schema;
  return required || fallback !== undefined ? example : "";
}

function addressOf(base: string, { path, parameters = [] }: Operation): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(parameters.filter((one) => one.name === name).map(valueOf)[0] ?? ""),
  );
  const query = parameters
    .filter((parameter) => parameter.in === "query" && valueOf(parameter) !== "")
    .map((parameter) => `${parameter.name}=${encodeURIComponent(valueOf(parameter))}`);
  return [`${base}${filled}`, ...(query.length > 0 ? [query.join("&")] : [])].join("?");
}

function curl({ method, url, headers, body, file, redirects }: Call): string {
  if (redirects) return `curl -i ${quote(url)}`;
  if (file !== undefined) return `curl -o ${file} ${quote(url)}`;
  if (method === "GET") return `curl ${quote(url)}`;
  return [
    `curl -X ${method} ${quote(url)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`  -d ${quote(JSON.stringify(body, null, 2))}`]),
  ].join(" \\\n");
}

/** Quotes a text for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function javaScript({ method, url, headers, body, file, redirects }: Call): string {
  if (redirects)
    return `const response = await fetch(${JSON.stringify(url)}, { redirect: "manual" });
console.log(response.status, response.headers.get("Location"));`;
  const sent =
    body === undefined
      ? ""
      : `
  body: JSON.stringify(${indentLines(JSON.stringify(body, null, 2), "  ")}),`;
  const options =
    method === "GET"
      ? ""
      : `, {
  method: "${method}",
  headers: { ${pairs(headers)} },${sent}
}`;
  return `const response = await fetch(${JSON.stringify(url)}${options});
console.log(response.status, await response.${file === undefined ? "json" : "blob"}());`;
}

/** Uses the standard library only. Catches HTTPError, because the API's errors are JSON. */
function python({ method, url, headers, body, file, redirects }: Call): string {
  const sent =
    body === undefined
      ? ""
      : `
    data=json.dumps(${indentLines(JSON.stringify(body, null, 4), "    ")}).encode(),`;
  const more =
    method === "GET"
      ? ""
      : `
    method="${method}",
    headers={${pairs(headers)}},${sent}`;
  const json = { imports: "import json\n", result: "json.load(response)" };
  const bytes = { imports: "", result: "len(response.read())" };
  const location = { imports: "", result: 'response.headers["Location"]' };
  const { imports, result } = redirects ? location : file === undefined ? json : bytes;
  const [stay, open] = redirects
    ? [STAY, "urllib.request.build_opener(Stay).open"]
    : ["", "urllib.request.urlopen"];
  return `${imports}import urllib.error
import urllib.request
${stay}
request = urllib.request.Request(
    ${JSON.stringify(url)},${more}
)
try:
    response = ${open}(request)
except urllib.error.HTTPError as error:
    response = error
print(response.status, ${result})`;
}

const STAY = `
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None
`;

/** JavaScript and Python write these in the same way. */
function pairs(headers: Call["headers"]): string {
  return Object.entries(headers)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(", ");
}

/** Indents all lines except the first. */
function indentLines(text: string, indent: string): string {
  return text.replaceAll("\n", `\n${indent}`);
}

const LONG = "https://example.com/a/long/address";

/** Complete samples for the clients that come with Curt, and for curl. */
export function clientSamples(base: string, needsToken: boolean) {
  return {
    curl: [
      `curl ${base}/api/v1/shorten`,
      ...(needsToken ? ["  -H 'Authorization: Bearer YOUR_TOKEN'"] : []),
      `  -H 'Content-Type: application/json'`,
      `  -d '{"original_url": "${LONG}"}'`,
    ].join(" \\\n"),
    TypeScript: `import { createClient } from "@curt/client";

const curt = createClient({
  baseUrl: "${base}",${needsToken ? '\n  token: "YOUR_TOKEN",' : ""}
});
const { short_url } = await curt.shorten(
  "${LONG}",
);
console.log(short_url);`,
    Shell: `export CURT_URL=${base}${needsToken ? "\nexport CURT_TOKEN=YOUR_TOKEN" : ""}
curt shorten ${LONG}`,
    MCP: `{
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
  };
}

import { answerOf, isRedirect, needs, type Operation, type Parameter } from "./openapi.ts";

interface Call {
  readonly method: string;
  readonly url: string;
  /** An object whose values are all strings: JSON, JavaScript and Python write these the same way. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  /** The name of a file to save the answer to, if it is not JSON. */
  readonly file: string | undefined;
  /** If true, the sample prints where the redirect leads instead of following it. */
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

/** The example body, shown in the samples and the form. */
export function bodyOf({ requestBody }: Operation): unknown {
  return requestBody?.content["application/json"]?.example;
}

/** The example value of a parameter, or "" to leave it out. Optional parameters without a default are left out. */
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
  if (redirects) return `curl -i ${quoted(url)}`;
  if (file !== undefined) return `curl -o ${file} ${quoted(url)}`;
  if (method === "GET") return `curl ${quoted(url)}`;
  return [
    `curl -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `  -H '${name}: ${value}'`),
    ...(body === undefined ? [] : [`  -d ${quoted(JSON.stringify(body, null, 2))}`]),
  ].join(" \\\n");
}

/** Quotes a text for a POSIX shell. */
function quoted(text: string): string {
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
  body: JSON.stringify(${indented(JSON.stringify(body, null, 2), "  ")}),`;
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

/** Uses the standard library only. HTTPError is caught, because the API's errors are JSON answers, too. */
function python({ method, url, headers, body, file, redirects }: Call): string {
  const sent =
    body === undefined
      ? ""
      : `
    data=json.dumps(${indented(JSON.stringify(body, null, 4), "    ")}).encode(),`;
  const more =
    method === "GET"
      ? ""
      : `
    method="${method}",
    headers={${pairs(headers)}},${sent}`;
  const json = { imports: "import json\n", told: "json.load(response)" };
  const bytes = { imports: "", told: "len(response.read())" };
  const location = { imports: "", told: 'response.headers["Location"]' };
  const { imports, told } = redirects ? location : file === undefined ? json : bytes;
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
print(response.status, ${told})`;
}

/** Keeps Python from following redirects. */
const STAY = `
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *arguments):
        return None
`;

/** JavaScript and Python write these the same way. */
function pairs(headers: Call["headers"]): string {
  return Object.entries(headers)
    .map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`)
    .join(", ");
}

/** Indents all lines except the first. */
function indented(text: string, indent: string): string {
  return text.replaceAll("\n", `\n${indent}`);
}

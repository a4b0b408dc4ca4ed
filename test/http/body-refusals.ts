import type { Mistake, Refusal } from "./refusal.ts";

type Body = string | Uint8Array<ArrayBuffer>;

export interface BodyRefusal extends Refusal {
  readonly body: Body;
  readonly sent?: Readonly<Record<string, string>>;
}

const typed = (type: string) => ({ "Content-Type": type });
const bytes = (...parts: (string | number[])[]) =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string))));
const unencoded = (input: string, body: Body): BodyRefusal => ({
  input,
  body,
  mistakes: [{ reason: "body.encoding" }],
});
const notJson = (body: string): BodyRefusal => ({
  input: `${JSON.stringify(body)} as the body`,
  body,
  mistakes: [{ reason: "body.json" }],
});
const tooDeep = (input: string, body: string): BodyRefusal => ({
  input,
  body,
  mistakes: [{ reason: "body.nesting", values: { max: 16 } }],
});

const compressed = (body: Body): BodyRefusal => ({
  input: "a compressed body",
  body,
  sent: { "Content-Encoding": "gzip" },
  status: 415,
  mistakes: [{ reason: "body.coding" }],
  headers: { "accept-encoding": "identity" },
});
const tooLarge = (maxBytes: number): BodyRefusal => ({
  input: "a body that is too large",
  body: `"${"x".repeat(maxBytes - 1)}"`,
  status: 413,
  mistakes: [{ reason: "body.too-large", values: { max: maxBytes } }],
});

/** Bodies that no endpoint of the API reads. */
export const jsonRefusals = (maxBytes: number): readonly BodyRefusal[] => [
  ...[
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "text/html",
    "text/csv",
    "application/jsonx",
    "text/plainx",
    "json",
  ].map((type): BodyRefusal => ({
    input: `the type ${type}`,
    body: "{}",
    sent: typed(type),
    status: 415,
    mistakes: [{ reason: "body.type" }],
  })),
  compressed(Bun.gzipSync("{}")),
  tooLarge(maxBytes),
  unencoded("a byte that isn't UTF-8", bytes('{"note":"', [0xff], '"}')),
  unencoded("a surrogate in UTF-8", bytes('{"note":"', [0xed, 0xa0, 0x80], '"}')),
  ...["", "{", "{}x", "{'note':1}"].map(notJson),
  tooDeep("17 levels", `{"note":${"[".repeat(16)}"\\"[{"${"]".repeat(16)}}`),
  tooDeep("arrays that never end", "[".repeat(maxBytes)),
  tooDeep("objects that never end", '{"a":'.repeat(maxBytes / 5)),
];

/** Values of JSON that aren't what an endpoint reads. */
export const shapeRefusals = (
  reason: "body.object" | "body.array",
  example: string,
): readonly BodyRefusal[] =>
  (
    [
      ["1", "number"],
      ['"x"', "string"],
      ["true", "boolean"],
      ["null", "null"],
      reason === "body.object" ? ["[]", "array"] : ["{}", "object"],
    ] as const
  ).map(([body, received]) => ({
    input: `a body of type ${received}`,
    body,
    mistakes: [{ reason, values: { example, received } }],
  }));

const notForm = (input: string, body: string, type: string): BodyRefusal => ({
  input,
  body,
  sent: typed(type),
  status: 415,
  mistakes: [{ reason: "body.form" }],
});
const CROSS_SITE: readonly Mistake[] = [{ reason: "cross-site" }];
const foreign = (input: string, sent: BodyRefusal["sent"] = {}): BodyRefusal => ({
  input,
  body: "x=y",
  sent,
  status: 403,
  mistakes: CROSS_SITE,
});

/** Bodies that no form takes. */
export const formRefusals = (maxBytes: number): readonly BodyRefusal[] => [
  notForm("JSON", "{}", "application/json"),
  notForm("a multipart body", "--x\r\n\r\n--x--", "multipart/form-data; boundary=x"),
  notForm("plain text", "x=y", "text/plain"),
  compressed("x=y"),
  tooLarge(maxBytes),
  unencoded("bytes that aren't UTF-8", new Uint8Array([0x6f, 0x3d, 0xff, 0xfe])),
  unencoded("encoded bytes that aren't UTF-8", "note=%B0%A1"),
  // Rather than ignore terms of the link in the last ones.
  {
    input: "101 fields",
    body: `x${"&x".repeat(100)}`,
    mistakes: [{ reason: "body.values", values: { max: 100 } }],
  },
];

/** Requests that pages of others send. */
export const SITE_REFUSALS: readonly BodyRefusal[] = [
  foreign("a page of another site", { "Sec-Fetch-Site": "cross-site" }),
  foreign("another origin", { Origin: "https://evil.example" }),
  foreign("another subdomain", { "Sec-Fetch-Site": "same-site", Origin: "https://other.curt.example" }),
  foreign("a page without an origin on a subdomain", { "Sec-Fetch-Site": "same-site", Origin: "null" }),
  foreign("another port", { Origin: "http://curt.example:8080" }),
  foreign("the same host without TLS", { Origin: "http://curt.example", Host: "curt.example" }),
];

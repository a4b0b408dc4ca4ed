// Requests that fill one value, or a whole body, with text that is slow to parse. Walks the table of src/lib/bounds.ts, so a new
// entry needs nothing here.
import {
  type AnyBody,
  BODIES,
  type FieldName,
  FIELDS,
  type HeaderName,
  HEADERS,
  MAX_PATH,
} from "../src/lib/bounds.ts";
import { BROWSER, PROGRAM, request } from "./requests.ts";

/** One kind of request. Each {number} is another number in every request. */
export interface Hostile {
  /** The hostile text and its place. The most expensive filler counts for both. */
  readonly value: string;
  readonly filler: string;
  readonly text: string;
}

/** Values of a service that valid requests need. */
export interface Setting {
  /** Codes of existing links. */
  readonly codes: Readonly<Record<"plain" | "secret" | "managed", string>>;
  /** The manage key of the managed link. */
  readonly manageKey: string;
  /** Parameters of queries in the OpenAPI document, by path. */
  readonly parameters: Readonly<Record<string, readonly string[]>>;
}

/** Their combining classes are nearly the highest (232) and the lowest (1), and both may be in hosts. */
const MARKS = { high: "\u0315", low: "\u0334" };
const repeated = (unit: string) => (length: number) => unit.repeat(length / unit.length + 1).slice(0, length);
const halves = (first: string, second: string) => (length: number) =>
  repeated(first)(length / 2) + repeated(second)(length / 2);
const numbered = (write: (nth: number) => string) => (length: number) =>
  Array.from({ length: length / write(1000).length }, (_, nth) => write(1000 + nth)).join("");

/** Repeats text up to this many units. */
const FILLERS: Readonly<Record<string, (length: number) => string>> = {
  marks: halves(MARKS.high, MARKS.low),
  "percent-encoded marks": halves("%CC%95", "%CC%B4"),
  "decomposed letters": repeated("\u1112\u1161\u11AB"),
  joiners: repeated("\u{1F469}\u200D"),
  brackets: repeated("["),
  "closing brackets": repeated(")]}"),
  dots: repeated("."),
  digits: repeated("9"),
  quotes: repeated('"'),
  angles: repeated("<&"),
  slashes: repeated("https:/"),
  "lone surrogates": repeated("\uD800"),
  "one token": repeated("a"),
  "white space": repeated(" "),
  names: repeated("\u00E4.co "),
  "Punycode labels": repeated("xn--4ca."),
  cookies: repeated("made=1.a; password=1.a; language=x; "),
  list: numbered((nth) => `a/b${nth};q=0.5,`),
};
/** A prefix of fillers where it fits. */
const PREFIXES = ["", "https://", "https://a.example/"];
const SHORTER = [250, 1000];
const HEAD_PREFIXES = ["", "https://"];
const ROOM = 64;

/** Bun refuses requests whose line and headers exceed 16 KiB. The other headers need some of it. */
const HEAD_ROOM = 15_000;
/** Bun reads these itself. */
const FRAMING: readonly string[] = ["content-length", "transfer-encoding", "upgrade"] satisfies HeaderName[];

/** Pages that read a query. */
const QUERIES: Readonly<Record<string, readonly FieldName[]>> = {
  "/": ["original_url", "text", "custom_code", "expire_duration", "language"],
  "/{code}": ["language"],
  "/{code}+": ["range", "by", "tz", "language"],
  "/{code}+qr": ["size", "margin", "dark", "light", "ecc", "language"],
  "/report": ["address", "language"],
  "/nothing/here": ["language"],
};
const PAGES = [...Object.keys(QUERIES), "/{code}+report", "/{code}+manage", "/admin", "/admin/links"];

type Values = Readonly<Partial<Record<FieldName, string>>>;

/** Size of an array of links. A public service refuses larger ones. */
const MAX_ITEMS = 30;

export function* hostileRequests(setting: Setting): Generator<Hostile> {
  const open = Object.entries(BODIES).filter(([endpoint]) => !endpoint.includes("/admin/"));
  for (const [endpoint, body] of open)
    for (const isValid of [true, false]) yield* hostileBodies(setting, endpoint, body, isValid);
  const paths = [...new Set([...PAGES, ...Object.keys(setting.parameters)])].map((path) => `GET ${path}`);
  for (const endpoint of [...paths, ...open.map(([name]) => name)]) yield* hostileHeads(setting, endpoint);
  for (const [path, names] of [...Object.entries(QUERIES), ...Object.entries(setting.parameters)])
    yield* hostileQueries(setting, path, names);
}

function* hostileBodies(
  setting: Setting,
  endpoint: string,
  body: AnyBody,
  isValid: boolean,
): Generator<Hostile> {
  const others = otherValues(setting, body.fields, isValid);
  const kind = isValid ? "" : ", refused";
  const write = (values: Values) => writeBody(endpoint, body, values);
  const send = (text: string) => requestOf(setting, endpoint, { body: text });
  for (const field of body.fields)
    for (const [filler, fill] of fillersOf(FIELDS[field]))
      for (const bound of lengthsOf(field, filler, body)) {
        const room = body.maxBytes - write({ ...others, [field]: "" }).length;
        const text = fill(fitting(fill, bound, room, (value) => write({ [field]: value })));
        const where = bound === body.maxBytes ? " as long as the body" : "";
        yield {
          value: `${endpoint}: ${field}${where}${kind}`,
          filler,
          text: send(write({ ...others, [field]: text })),
        };
      }
  for (const [filler, fill] of Object.entries(FILLERS)) {
    const share = body.maxBytes / body.fields.length;
    const filled = body.fields.map((field) => {
      const length = fitting(fill, FIELDS[field], share - ROOM, (value) => write({ [field]: value }));
      return [field, setting.manageKey !== "" && field === "key" ? setting.manageKey : fill(length)] as const;
    });
    yield { value: `${endpoint}: all fields`, filler, text: send(write(Object.fromEntries(filled))) };
  }
  if (!isValid) return;
  for (const [filler, text] of Object.entries(wholeBodies(body)))
    yield { value: `${endpoint}: body`, filler, text: send(text) };
}

/** Hostile bodies of the greatest length. */
function wholeBodies({ type, fields, maxBytes: max }: AnyBody): Record<string, string> {
  const [first = "a"] = fields;
  const all = repeated;
  if (type === "form")
    return {
      "many fields": all("a&")(max),
      "many percent signs": all("%")(max),
      "many equal names": all(`${first}=a&`)(max),
      quotes: `${first}=${all('"')(max - 64)}`,
    };
  const members = numbered((nth) => `"a${nth}":${nth},`)(max - ROOM);
  return {
    "unclosed arrays": all("[")(max),
    "nested arrays": all("[")(max / 2) + all("]")(max / 2),
    "nested arrays in a field": `{"${first}":${all("[")(max / 2 - ROOM)}${all("]")(max / 2 - ROOM)}}`,
    "nested objects": all('{"a":')(max),
    "many fields": `{${members}"a":1}`,
    "many equal names": `{${all(`"${first}":"a",`)(max - ROOM).replace(/,[^,]*$/, "")}}`,
    "many items": `[${all("0,")((max - ROOM) & ~1)}0]`,
    "many objects": `[${all("{},")(max - ROOM - ((max - ROOM) % 3))}0]`,
    "items of many fields": `[${Array.from({ length: MAX_ITEMS }, () => `{${numbered((nth) => `"a${nth}":${nth},`)((max - ROOM) / MAX_ITEMS - ROOM)}"a":1}`).join()}]`,
    "long number": `{"${first}":${all("9")(max - ROOM)}}`,
    "white space": `${all(" ")(max - 2)}{}`,
    "escaped marks": `{"${first}":"${all("\\u0345")(max - ROOM - ((max - ROOM) % 6))}"}`,
  };
}

/** In headers and in the code. */
function* hostileHeads(setting: Setting, endpoint: string): Generator<Hostile> {
  const unknown = { ...setting, codes: { plain: "a{number}", secret: "a{number}", managed: "a{number}" } };
  const names = (Object.keys(HEADERS) as HeaderName[]).filter((name) => !FRAMING.includes(name));
  for (const isValid of endpoint.includes("{code}") ? [true, false] : [true])
    for (const name of names)
      for (const [filler, fill] of fillersOf(HEADERS[name], HEAD_PREFIXES)) {
        const length = fitting(fill, HEADERS[name], HEAD_ROOM, (value) => value);
        // Every reader of Authorization expects a Bearer token.
        const value = `${name === "authorization" ? "Bearer " : ""}${fill(length)}`.slice(0, HEADERS[name]);
        const text = requestOf(isValid ? setting : unknown, endpoint, { header: [name, value] });
        yield { value: `${endpoint}: ${name}${isValid ? "" : ", refused"}`, filler, text };
      }
  if (!endpoint.includes("{code}")) return;
  for (const [filler, fill] of Object.entries(FILLERS))
    for (const [bound, where] of [
      [256, " of 256 bytes"],
      [MAX_PATH, ""],
      [HEAD_ROOM, " as long as the head"],
    ] as const) {
      const code = encode(fill(fitting(fill, bound, bound, encode)));
      yield {
        value: `${endpoint}: path${where}`,
        filler,
        text: requestOf(setting, endpoint, { code: `a{number}${code}` }),
      };
    }
}

function* hostileQueries(setting: Setting, path: string, names: readonly string[]): Generator<Hostile> {
  const endpoint = `GET ${path}`;
  for (const name of names) {
    const bound = (FIELDS as Readonly<Record<string, number>>)[name] ?? HEAD_ROOM;
    for (const [filler, fill] of fillersOf(bound)) {
      const value = encode(fill(fitting(fill, bound, HEAD_ROOM, encode)));
      const text = requestOf(setting, `${endpoint}?${name}=${value}&x={number}`);
      yield { value: `${endpoint}: ?${name}`, filler, text };
    }
  }
  for (const unit of ["a&", "a=%41&", "%"])
    yield {
      value: `${endpoint}: query`,
      filler: `many ${unit}`,
      text: requestOf(setting, `${endpoint}?${repeated(unit)(HEAD_ROOM)}&x={number}`),
    };
}

function* fillersOf(
  bound: number,
  prefixes = PREFIXES,
): Generator<readonly [string, (length: number) => string]> {
  for (const [name, fill] of Object.entries(FILLERS))
    for (const prefix of bound > ROOM ? prefixes : [""])
      yield [
        prefix === "" ? name : `${prefix} and ${name}`,
        (length) => (prefix + fill(Math.max(0, length - prefix.length))).slice(0, length),
      ];
}

/** Also texts shorter than the bound, because rules have lower bounds of their own. */
function lengthsOf(field: FieldName, filler: string, { maxBytes }: AnyBody): number[] {
  const whole = filler in FILLERS ? [maxBytes] : [];
  return [...SHORTER.filter((length) => length < FIELDS[field]), FIELDS[field], ...whole];
}

/** The part of a filler that fits into this many bytes when encoded. */
function fitting(
  fill: (length: number) => string,
  bound: number,
  bytes: number,
  write: (text: string) => string,
): number {
  const sample = 480;
  const added = Buffer.byteLength(write(fill(sample))) - Buffer.byteLength(write(""));
  return Math.max(0, Math.min(bound, Math.floor((bytes - ROOM) / (added / sample))));
}

/** The rest of a body, or its mistakes. */
function otherValues({ manageKey }: Setting, fields: readonly FieldName[], isValid: boolean): Values {
  const target = isValid ? "https://www.example.com/{number}" : "ftp://www.example.com/{number}";
  const code = isValid ? {} : { code: "a b", custom_code: "a b" };
  const needed: Values = {
    ...code,
    target,
    original_url: target,
    reason: isValid ? "spam" : "?",
    key: manageKey,
    act: "change",
    token: "?",
  };
  return Object.fromEntries(Object.entries(needed).filter(([name]) => fields.some((one) => one === name)));
}

function writeBody(endpoint: string, { type, maxBytes }: AnyBody, values: Values): string {
  if (type === "form") return new URLSearchParams(values).toString().replaceAll("%7Bnumber%7D", "{number}");
  const item = JSON.stringify(values);
  if (!endpoint.endsWith("/batch")) return item;
  const count = Math.floor((maxBytes - ROOM) / (Buffer.byteLength(item) + 1));
  return `[${Array.from({ length: Math.max(1, Math.min(MAX_ITEMS, count)) }, () => item).join()}]`;
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed());
}

interface Parts {
  readonly body?: string;
  readonly header?: readonly [HeaderName, string];
  readonly code?: string;
}

/** A valid request except for these parts. */
function requestOf(setting: Setting, endpoint: string, { body, header, code }: Parts = {}): string {
  const entry = (BODIES as Readonly<Record<string, AnyBody>>)[endpoint];
  const type = entry?.type === "form" ? "application/x-www-form-urlencoded" : "application/json";
  const known = [
    ...(endpoint.includes(" /api/") ? [...PROGRAM, `Authorization: Bearer ${setting.manageKey}`] : BROWSER),
    ...(entry === undefined ? [] : [`Content-Type: ${type}`]),
  ];
  const headers =
    header === undefined
      ? known
      : [
          ...known.filter((line) => !line.toLowerCase().startsWith(`${header[0]}:`)),
          `${header[0]}: ${header[1]}`,
        ];
  const valid = entry && writeBody(endpoint, entry, otherValues(setting, entry.fields, true));
  const line = endpoint
    .replace("{code}", code ?? setting.codes[linkFor(endpoint)])
    .replace("{host}", "a.example");
  return request(line, headers, body ?? valid ?? "");
}

/** A link that the endpoint accepts. */
function linkFor(endpoint: string): keyof Setting["codes"] {
  if (endpoint === "POST /{code}") return "secret";
  return /manage|PATCH/.test(endpoint) ? "managed" : "plain";
}

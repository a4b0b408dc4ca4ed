// Finds the most expensive requests: fills each value that a request can bring to its bound with hostile text.
import { randomBytes } from "node:crypto";

import { type Answer, drive } from "./connections.ts";
import { type Hostile, hostileRequests, type Setting } from "./hostile.ts";
import { type Cost, costOf, median, rounded } from "./measure.ts";
import type { Row } from "./report.ts";
import type { Server } from "./servers.ts";

/** Requests of each kind. Only the most expensive kinds are repeated. */
const REQUESTS = 4;
const ROUND_MS = 30;
const REPEATED = 40;
const ROUNDS = 5;
const SHOWN = 20;
/** The generator gives up on a request without a response after this time. */
const STALLED: Cost = { process: 1e10, serving: 1e10 };

/** The greatest cost of one request for the serving thread, in hot redirects. */
const AIMS = { unlimited: 50, limited: 500 };

export const WALK_SETTINGS = {
  POSTURE: "public",
  // Otherwise all clients share one address.
  HOST: "0.0.0.0",
  ADMIN_TOKEN: randomBytes(32).toString("hex"),
  // There is one link with a password, which all clients try.
  LIMIT_PASSWORDS: "100000/31d",
};

interface Measured extends Cost {
  /** The limits that counted it. */
  readonly limits: string;
  /** Whether a limit refused the first request already, so that nothing was measured. */
  readonly isRefused: boolean;
}

interface Walked {
  readonly rows: readonly Row[];
  readonly doubts: readonly string[];
}

export async function walk(
  start: () => Promise<Server>,
  measureRedirect: (server: Server) => Promise<Cost>,
  progress: (text: string) => void,
): Promise<Walked> {
  let server = await start();
  let clients = 0;
  const setting = await createLinks(server);
  const redirect = () => measureRedirect(server);

  /** From an address whose limits nothing else has counted against. */
  async function measure({ text }: Hostile): Promise<Measured> {
    const nth = ++clients;
    const client = `127.${1 + (nth >> 16)}.${(nth >> 8) & 255}.${nth & 255}`;
    try {
      return await measureFor(server, text, client);
    } catch (error) {
      if (!/stalls/.test(String(error))) throw error;
      await server.stop();
      server = await start();
      return { ...STALLED, limits: "", isRefused: false };
    }
  }

  // The first ones warm up.
  await redirect();
  const first = await redirect();
  const worst = new Map<string, { readonly hostile: Hostile; readonly share: number }>();
  let count = 0;
  let refused = 0;
  for (const hostile of hostileRequests(setting)) {
    if (++count % 5000 === 0) progress(`${count} kinds of hostile requests`);
    const measured = await measure(hostile);
    if (measured.isRefused) refused++;
    const share = measured.serving / first.serving / aimOf(measured);
    if (share > (worst.get(hostile.value)?.share ?? 0)) worst.set(hostile.value, { hostile, share });
  }
  progress(`repeating ${REPEATED} of ${count} kinds`);
  const chosen = [...worst.values()].toSorted((one, other) => other.share - one.share).slice(0, REPEATED);
  const repeated = chosen.map(({ hostile }) => ({
    hostile,
    rounds: [] as { readonly measured: Measured; readonly unit: Cost }[],
  }));
  for (let round = 0; round < ROUNDS; round++) {
    const unit = await redirect();
    for (const { hostile, rounds } of repeated) rounds.push({ measured: await measure(hostile), unit });
  }
  await server.stop();
  const shown = repeated
    .map(({ hostile, rounds }) => {
      const limits = rounds[0]?.measured.limits ?? "";
      const costs = (part: keyof Cost) => rounds.map(({ measured, unit }) => measured[part] / unit[part]);
      const serving = median(costs("serving"));
      const name = `${hostile.value}, ${hostile.filler}`;
      const row = {
        "cost, in hot redirects": name,
        "counts against": limits === "" ? "nothing" : limits,
        "all threads": rounded(median(costs("process")), 1),
        "serving thread": rounded(serving, 1),
        "each round": costs("serving").map((one) => rounded(one, 1)),
      };
      return { name, row, share: serving / aimOf({ limits }) };
    })
    .toSorted((one, other) => other.share - one.share)
    .slice(0, SHOWN);
  return {
    rows: shown.map(({ row }) => row),
    doubts: [
      ...(refused > 0 ? [`Limits refused ${refused} of ${count} kinds of hostile requests.`] : []),
      ...shown.filter(({ share }) => share > 1).map(({ name }) => `Above the aim: ${name}.`),
    ],
  };
}

function aimOf({ limits }: Pick<Measured, "limits">): number {
  return limits === "" ? AIMS.unlimited : AIMS.limited;
}

async function measureFor(server: Server, text: string, client: string): Promise<Measured> {
  let last: Answer | undefined;
  let requests = 0;
  let isRefused = false;
  const cost = await costOf(server, async ({ port }) => {
    const stream = {
      connections: 1,
      clients: [client],
      request: (number: number) => (number < REQUESTS && !isRefused ? withNumber(text) : undefined),
      check(answer: Answer) {
        isRefused = answer.status === 429;
        if (isRefused) return;
        requests++;
        last = answer;
      },
    };
    await drive(port, ROUND_MS, [stream]).catch((error: unknown) => {
      // Bun refused the request before Curt saw it.
      if (!/closed a connection|without Content-Length/.test(String(error))) throw error;
    });
    return { requests: Math.max(1, requests) };
  });
  return { ...cost, limits: limitsOf(last), isRefused: isRefused && requests === 0 };
}

let lastNumber = 10_000_000;
/** Numbers are as long as their placeholder. */
function withNumber(text: string): Uint8Array {
  return Buffer.from(text.replaceAll("{number}", String(++lastNumber)));
}

/** The limits of which less remains than an idle client has (draft-ietf-httpapi-ratelimit-headers-11). */
function limitsOf(answer: Answer | undefined): string {
  const read = (name: string) => {
    const line = new RegExp(`\r\n${name}: (.*)`, "i").exec(answer?.head ?? "")?.[1] ?? "";
    const limits = line.matchAll(/"([a-z]+)";[qr]=(\d+)/g);
    return new Map(limits.map(([, limit = "", value]) => [limit, Number(value)]));
  };
  const most = read("ratelimit-policy");
  const used = [...read("ratelimit")].filter(([name, remaining]) => remaining < (most.get(name) ?? 0));
  return used.map(([name]) => name).join(", ");
}

async function createLinks({ port }: Server): Promise<Setting> {
  const base = `http://127.0.0.1:${port}/api/v1`;
  async function create(code: string, password?: string): Promise<string> {
    const link = { target: "https://www.example.com/", code, password };
    const response = await fetch(`${base}/links`, { method: "POST", body: JSON.stringify(link) });
    const { data } = (await response.json()) as { data: { manage_key: string } };
    return data.manage_key;
  }
  // For the hot redirects.
  await create("popular");
  await create("plain");
  await create("secret", "correct horse battery staple");
  const manageKey = await create("managed");
  const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as OpenApiDocument;
  const parameters = Object.entries(paths)
    .filter(([, { get }]) => get !== undefined)
    .map(([path, { get }]) => {
      const inQuery = get?.parameters?.filter((one) => one.in === "query") ?? [];
      return [path, inQuery.map(({ name }) => name)] as const;
    });
  return {
    codes: { plain: "plain", secret: "secret", managed: "managed" },
    manageKey,
    parameters: Object.fromEntries(parameters),
  };
}

interface OpenApiDocument {
  readonly paths: Readonly<Record<string, { readonly get?: { readonly parameters?: readonly Parameter[] } }>>;
}
interface Parameter {
  readonly in: string;
  readonly name: string;
}

// Finds the most expensive requests: fills each value that a request can bring to its bound with hostile text.
import { randomBytes } from "node:crypto";

import { type Answer, drive } from "./connections.ts";
import { type Hostile, hostileRequests, type Setting } from "./hostile.ts";
import { median, rounded } from "./measure.ts";
import { threadTimesNs } from "./process.ts";
import type { Row } from "./report.ts";
import type { Server } from "./servers.ts";

/** Of each kind. Only the most expensive kinds are repeated. */
const REQUESTS = 6;
const ROUND_MS = 100;
const REPEATED = 40;
const ROUNDS = 5;
const SHOWN = 20;

/** The most that one request may take of the serving thread, in hot redirects. */
const AIMS = { unlimited: 50, limited: 500 };

export const WALK_SETTINGS = {
  // Otherwise all clients share one address.
  HOST: "0.0.0.0",
  POSTURE: "public",
  ADMIN_TOKEN: randomBytes(32).toString("hex"),
  // Each client has an address of its own. But there is one link with a password, which all of them try.
  LIMIT_PASSWORDS: "100000/31d",
};

/** CPU time of a request, in nanoseconds. */
export interface Cost {
  readonly process: number;
  readonly serving: number;
}

interface Measured extends Cost {
  /** The statuses of the responses. */
  readonly status: string;
  /** Which limits counted it. */
  readonly limits: string;
}

interface Walked {
  readonly rows: readonly Row[];
  readonly doubts: readonly string[];
}

/** `redirect` measures a hot redirect. */
export async function walk(
  curt: Server,
  redirect: () => Promise<Cost>,
  restart: () => Promise<Server>,
  progress: (text: string) => void,
): Promise<Walked> {
  let server = curt;
  let clients = 0;
  /** From an address whose limits nothing else has counted against. */
  const measure = async ({ text }: Hostile): Promise<Measured> => {
    const nth = ++clients;
    const client = `127.${1 + (nth >> 16)}.${(nth >> 8) & 255}.${nth & 255}`;
    try {
      return await measureFor(server, text, client);
    } catch (error) {
      if (!/stalls/.test(String(error))) throw error;
      await server.stop();
      server = await restart();
      return { process: 1e10, serving: 1e10, status: "none in 10 s", limits: "" };
    }
  };

  const first = await redirect();
  const share = ({ serving, limits }: Measured, unit: Cost) =>
    serving / unit.serving / (limits === "" ? AIMS.unlimited : AIMS.limited);
  const dearest = new Map<string, readonly [Hostile, number]>();
  let count = 0;
  let refused = 0;
  for (const hostile of hostileRequests(await readSetting(curt))) {
    if (++count % 1000 === 0) progress(`${count} kinds of requests`);
    const measured = await measure(hostile);
    if (measured.status === "") refused++;
    const [, known = 0] = dearest.get(hostile.value) ?? [];
    if (share(measured, first) > known) dearest.set(hostile.value, [hostile, share(measured, first)]);
  }
  progress(`repeating ${REPEATED} of ${count} kinds of requests`);
  const chosen = [...dearest.values()].toSorted(([, one], [, other]) => other - one).slice(0, REPEATED);
  const costs = chosen.map(([hostile]) => ({ hostile, rounds: [] as (Measured & { unit: Cost })[] }));
  for (let round = 0; round < ROUNDS; round++) {
    const unit = await redirect();
    for (const { hostile, rounds } of costs) rounds.push({ ...(await measure(hostile)), unit });
  }
  const repeated = costs.map(({ hostile, rounds }) => {
    const [{ status, limits } = { status: "", limits: "" }] = rounds;
    const part = (name: keyof Cost) => median(rounds.map((one) => one[name] / one.unit[name]));
    const serving = part("serving");
    return {
      aim: limits === "" ? AIMS.unlimited : AIMS.limited,
      row: {
        [`the dearest of ${count} kinds, in hot redirects`]: `${hostile.value}, ${hostile.filler}`,
        status,
        "counts against": limits || "nothing",
        "all threads": rounded(part("process"), 1),
        "serving thread": rounded(serving, 1),
        "each round": rounds.map(({ serving: ns, unit }) => rounded(ns / unit.serving, 1)),
      },
    };
  });
  const shown = repeated
    .toSorted((one, other) => other.row["serving thread"] / other.aim - one.row["serving thread"] / one.aim)
    .slice(0, SHOWN);
  return {
    rows: shown.map(({ row }) => row),
    doubts: [
      ...(refused > 0 ? [`${refused} of ${count} kinds got no response but 429.`] : []),
      ...shown
        .filter(({ row, aim }) => row["serving thread"] > aim)
        .map(({ row, aim }) => `Above ${aim} hot redirects: ${Object.values(row)[0]}.`),
    ],
  };
}

async function measureFor(server: Server, text: string, client: string): Promise<Measured> {
  const answers: Answer[] = [];
  let isRefused = false;
  const before = threadTimesNs(server.pid);
  await drive(server.port, ROUND_MS, [
    {
      connections: 1,
      clients: [client],
      request: (number) =>
        number < REQUESTS && !isRefused
          ? Buffer.from(text.replaceAll("{number}", String(nextNumber())))
          : undefined,
      check(answer) {
        isRefused = answer.status === 429;
        if (!isRefused) answers.push(answer);
      },
    },
  ]).catch((error: unknown) => {
    // Bun's parser refused the request.
    if (!/closed a connection|without Content-Length/.test(String(error))) throw error;
  });
  const after = threadTimesNs(server.pid);
  const sum = (times: ReadonlyMap<number, number>) => [...times.values()].reduce((all, ns) => all + ns, 0);
  const main = (times: ReadonlyMap<number, number>) => times.get(server.pid) ?? Number.NaN;
  const count = Math.max(1, answers.length);
  return {
    process: (sum(after) - sum(before)) / count,
    serving: (main(after) - main(before)) / count,
    status: [...new Set(answers.map(({ status }) => status))].join(),
    limits: limitsOf(answers.at(-1)),
  };
}

/** The limits of which less remains than an idle client has (draft-ietf-httpapi-ratelimit-headers-11). */
function limitsOf(answer: Answer | undefined): string {
  const read = (name: string) => {
    const line = new RegExp(`\r\n${name}: (.*)`, "i").exec(answer?.head ?? "")?.[1] ?? "";
    return new Map(
      [...line.matchAll(/"([a-z]+)";[qr]=(\d+)/g)].map(([, limit = "", value]) => [limit, Number(value)]),
    );
  };
  const most = read("ratelimit-policy");
  const used = [...read("ratelimit")].filter(([name, left]) => left < (most.get(name) ?? 0));
  return used.map(([name]) => name).join(", ");
}

let lastNumber = 10_000_000;
/** As long as its place holder. */
const nextNumber = () => ++lastNumber;

async function readSetting({ port }: Server): Promise<Setting> {
  const base = `http://127.0.0.1:${port}/api/v1`;
  const create = async (code: string, password?: string) => {
    const link = { target: "https://www.example.com/", code, password };
    const response = await fetch(`${base}/links`, { method: "POST", body: JSON.stringify(link) });
    return ((await response.json()) as { data: { manage_key: string } }).data.manage_key;
  };
  await create("plain");
  await create("secret", "correct horse battery staple");
  const manageKey = await create("managed");
  const { paths } = (await (await fetch(`${base}/openapi.json`)).json()) as {
    paths: Record<string, { get?: { parameters?: { in: string; name: string }[] } }>;
  };
  const parameters = Object.entries(paths).flatMap(([path, { get }]) =>
    get === undefined
      ? []
      : [[path, (get.parameters ?? []).flatMap((one) => (one.in === "query" ? [one.name] : []))] as const],
  );
  return {
    codes: { plain: "plain", secret: "secret", managed: "managed" },
    manageKey,
    parameters: Object.fromEntries(parameters),
  };
}

// Tests every term through every door. A new term only needs its samples.
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";

import { TERM_NAMES, type TermName, TERMS } from "../../src/links/terms/terms.ts";
import { DAY_MS } from "../../src/links/time.ts";
import en from "../../src/locales/en.json";
import { operateAs, TOKEN } from "../admin/operator.ts";
import { ended, HEAD, linkLine } from "../cli/export-file.ts";
import { run } from "../cli/run.ts";
import { startReceiver } from "../events/receiver.ts";
import { HTML, sendForm } from "../http/markup.ts";
import { readServedForm, type ServedForm } from "../http/served-form.ts";
import { shareTools } from "../mcp/connect.ts";
import { callApi, createManagedLink, type ManagedLink, OTHER, TARGET } from "../support/managed-links.ts";
import { sharePostgres } from "../support/postgres.ts";
import { type RunningService, shareService, startService, temporaryFolder } from "../support/service.ts";
import { enter, isRefusedBeside } from "./term-forms.ts";
import {
  endlessTexts,
  expectTerms,
  type CreatedLink,
  createScheduled,
  SCHEDULED,
  ONLY_IN_CHANGES,
  SAMPLES,
  shownTerms,
  wrongTexts,
  type Value,
  wrongValues,
} from "./term-samples.ts";

const LINKS = "/api/v1/links";
/** A checkbox has no wrong text. */
const WITH_WRONG_TEXTS = TERM_NAMES.filter((name) => wrongTexts(name).length > 0);

/** Changes a term to its other sample and back, then removes it. Each change must give the link another ETag. */
async function expectChanges(
  curt: RunningService,
  name: TermName,
  change: (link: ManagedLink, value: Value | null, etag: string) => Promise<unknown>,
): Promise<void> {
  const link = await createScheduled(curt, name);
  const etagOf = async () =>
    (await callApi(curt, "GET", link.path, { key: link.key })).headers.get("etag") ?? "";
  const [first, other] = SAMPLES[name].values;
  let etag = await etagOf();
  for (const value of [other, first, null]) {
    await change(link, value, etag);
    await expectTerms(curt, link, { ...SCHEDULED, [name]: value });
    const before = etag;
    etag = await etagOf();
    expect(etag, `${name}: ${value}`).not.toBe(before);
    const late = await callApi(curt, "PATCH", link.path, {
      key: link.key,
      body: { target: OTHER },
      ifMatch: before,
    });
    expect([late.status, late.reason]).toEqual([412, "precondition.failed"]);
  }
}

const postgres = await sharePostgres();
const ENGINES = { SQLite: {}, PostgreSQL: { DATABASE_URL: await postgres.url() } };

describe.each(Object.entries(ENGINES))("the API over %s", (_, settings) => {
  const curt = shareService({ ADMIN_TOKEN: TOKEN, POSTURE: "private", ...settings });

  async function batch(...bodies: readonly object[]) {
    const body = bodies.map((one) => ({ target: TARGET, ...one }));
    return (await callApi(curt, "POST", `${LINKS}/batch`, { body })).data.results;
  }

  test.each(TERM_NAMES)("POST stores and shows %s", async (name) => {
    const terms = { [name]: SAMPLES[name].values[0] };
    const link = await createManagedLink(curt, terms);
    expect(link.data).toMatchObject(shownTerms(terms));
    await expectTerms(curt, link, terms);
  });

  test.each(TERM_NAMES)("POST accepts null as %s for a link without it", async (name) => {
    const [plain, link] = [await createManagedLink(curt), await createManagedLink(curt, { [name]: null })];
    const [etag, other] = await Promise.all(
      [plain, link].map(async ({ path }) => (await callApi(curt, "GET", path)).headers.get("etag")),
    );
    expect(other).toBe(etag as string);
  });

  test.each(TERM_NAMES)("a batch stores and shows %s", async (name) => {
    const terms = { [name]: SAMPLES[name].values[0] };
    const [plain, { data }] = await batch({}, terms);
    expect(plain.data).toMatchObject(shownTerms({}));
    expect(data).toMatchObject(shownTerms(terms));
    await expectTerms(curt, { code: data.code, key: data.manage_key }, terms);
  });

  test.each(TERM_NAMES)("a replay shows %s", async (name) => {
    const body = JSON.stringify({ target: TARGET, [name]: SAMPLES[name].values[0] });
    const headers = { "Content-Type": "application/json", "Idempotency-Key": `creates a link with ${name}` };
    const send = () => curt.fetch(LINKS, { method: "POST", headers, body });
    const [first, replay] = [await send(), await send()];
    expect(replay.headers.get("idempotent-replayed")).toBe("true");
    const { data } = (await replay.json()) as { data: object };
    expect(data).toMatchObject(shownTerms({ [name]: SAMPLES[name].values[0] }));
    expect(data).toEqual(((await first.json()) as { data: object }).data);
  });

  test.each(TERM_NAMES)(
    "PATCH changes and removes %s, and each change fails an older If-Match",
    async (name) => {
      await expectChanges(curt, name, async ({ path, key }, value, ifMatch) => {
        const { status, data } = await callApi(curt, "PATCH", path, {
          key,
          body: { [name]: value },
          ifMatch,
        });
        expect(status).toBe(200);
        expect(data).toMatchObject(shownTerms({ ...SCHEDULED, [name]: value }));
      });
    },
  );

  test.each(TERM_NAMES)("POST, batch and PATCH refuse a wrong %s with the same reason", async (name) => {
    const link = await createScheduled(curt, name);
    for (const [value, reason] of wrongValues(name)) {
      const change = { [name]: value };
      const errors = [expect.objectContaining({ field: name, reason })];
      const response = await curt.fetch(link.path, {
        method: "PATCH",
        headers: { Authorization: `Bearer ${link.key}` },
        body: JSON.stringify(change),
      });
      expect([response.status, await response.json()]).toEqual([400, expect.objectContaining({ errors })]);
      const created = await curt.fetch(LINKS, {
        method: "POST",
        body: JSON.stringify({ target: TARGET, ...change }),
      });
      const [inBatch] = await batch(change);
      if (reason === ONLY_IN_CHANGES) {
        expect([created.status, inBatch.status_code]).toEqual([201, 201]);
        continue;
      }
      expect([created.status, await created.json()]).toEqual([400, expect.objectContaining({ errors })]);
      expect(inBatch).toMatchObject({ status_code: 400, errors });
    }
    await expectTerms(curt, link, { ...SCHEDULED, [name]: SAMPLES[name].values[0] });
  });
});

const curt = shareService({ ADMIN_TOKEN: TOKEN, POSTURE: "private" });
let environment: { CURT_URL: string };
beforeAll(() => void (environment = { CURT_URL: curt.origin }));

describe("the contract's endpoint", () => {
  test("accepts a duration as the end", async () => {
    const response = await curt.shorten({ original_url: TARGET, expire_duration: "24h" });
    const { data } = (await response.json()) as { data: { code: string; expiration_date: string } };
    const shown = (await operateAs(curt)("GET", `links/${data.code}`)).data;
    expect(shown).toMatchObject(shownTerms({ expires_at: data.expiration_date }));
    expect(Date.parse(shown.expires_at) - Date.parse(shown.created_at)).toBe(DAY_MS);
  });
});

describe("the home form", () => {
  const open = async () => readServedForm(curt, await curt.fetch("/", { headers: HTML }), "form[data-make]");
  const address = (form: ServedForm) => form.find(({ name }) => name === "original_url");
  const sendRefused = async (form: ServedForm) => readServedForm(curt, await form.send(), "form[data-make]");

  /** The operator has the manage key. */
  async function created(form: ServedForm): Promise<CreatedLink> {
    const response = await form.send();
    expect(response.status).toBe(303);
    const [, code = ""] = /^\/([^+]+)\+/.exec(response.headers.get("location") ?? "") ?? [];
    const page = await operatorsPage(code);
    return { code, key: /#key=([\w-]+)/.exec(page)?.[1] ?? "" };
  }

  test.each(TERM_NAMES)("creates a link with %s", async (name) => {
    const [value] = SAMPLES[name].values;
    const form = await open();
    address(form).value = TARGET;
    const plain = await created(form);
    await expectTerms(curt, plain, {});
    enter(form, name, value);
    await expectTerms(curt, await created(form), { [name]: value });
  });

  test.each(TERM_NAMES)("keeps %s when it shows another mistake", async (name) => {
    const [value] = SAMPLES[name].values;
    const form = await open();
    enter(form, name, value);
    const shown = await sendRefused(form);
    expect(shown.status).toBe(400);
    address(shown).value = TARGET;
    await expectTerms(curt, await created(shown), { [name]: value });
  });

  test.each(WITH_WRONG_TEXTS)("refuses a wrong %s beside its field", async (name) => {
    for (const [value] of wrongTexts(name)) {
      const form = await open();
      address(form).value = TARGET;
      enter(form, name, value);
      const shown = await sendRefused(form);
      expect([shown.status, isRefusedBeside(shown, name)], String(value)).toEqual([400, true]);
    }
  });
});

describe("the manage form", () => {
  const SELECTOR = "form[data-act=change]";
  async function open({ code, key }: CreatedLink): Promise<ServedForm> {
    const body = new URLSearchParams({ key });
    return readServedForm(
      curt,
      await curt.fetch(`/${code}+manage`, { method: "POST", headers: HTML, body }),
      SELECTOR,
    );
  }
  // A refused form shows what was typed, so the script doesn't list changes.
  const sendRefused = async (form: ServedForm) =>
    readServedForm(curt, await form.send(), "form:not([data-act])");

  test.each(TERM_NAMES)("changes and removes %s", async (name) => {
    await expectChanges(curt, name, async (link, value) => {
      const form = await open(link);
      enter(form, name, value);
      expect((await form.send()).status).toBe(200);
    });
  });

  test.each(TERM_NAMES)("keeps %s if its field is untouched", async (name) => {
    const link = await createScheduled(curt, name);
    const before = await callApi(curt, "GET", link.path, { key: link.key });
    expect((await (await open(link)).send()).status).toBe(200);
    const after = await callApi(curt, "GET", link.path, { key: link.key });
    expect([after.data, after.headers.get("etag")]).toEqual([before.data, before.headers.get("etag")]);
  });

  test.each(TERM_NAMES)("keeps %s when it shows another mistake, unless it is secret", async (name) => {
    const [first, other] = SAMPLES[name].values;
    const link = await createScheduled(curt, name);
    const form = await open(link);
    form.find((control) => control.name === "target").value = "no address";
    enter(form, name, other);
    const shown = await sendRefused(form);
    expect(shown.status).toBe(400);
    shown.find((control) => control.name === "target").value = TARGET;
    expect((await shown.send()).status).toBe(200);
    const isSecret = TERMS[name].kind === "secret";
    await expectTerms(curt, link, { ...SCHEDULED, [name]: isSecret ? first : other });
  });

  test.each(WITH_WRONG_TEXTS)("refuses a wrong %s beside its field", async (name) => {
    const link = await createScheduled(curt, name);
    for (const [value] of wrongTexts(name)) {
      const form = await open(link);
      enter(form, name, value);
      const shown = await sendRefused(form);
      expect([shown.status, isRefusedBeside(shown, name)], String(value)).toEqual([400, true]);
    }
    await expectTerms(curt, link, { ...SCHEDULED, [name]: SAMPLES[name].values[0] });
  });
});

describe("the commands", () => {
  const optionOf = (name: TermName) => name.replaceAll("_", "-");

  /** The arguments that give a term, or remove it with null. */
  function optionFor(name: TermName, value: Value | null): string[] {
    const term = TERMS[name];
    const option = optionOf(name);
    if (term.kind === "text" && value === null) return [`--no-${option}`];
    if (term.kind === "secret" || term.kind === "flag")
      return [value === null || value === false ? `--no-${option}` : `--${option}`];
    return [`--${option}`, value === null && "none" in term ? term.none : String(value)];
  }

  const runWith = (command: readonly string[], name: TermName, value: Value | null) =>
    run([...command, ...optionFor(name, value), "--json"], {
      ...environment,
      ...(TERMS[name].kind === "secret" && typeof value === "string" && { CURT_PASSWORD: value }),
    });

  test.each(TERM_NAMES)("curt shorten creates a link with %s", async (name) => {
    const [value] = SAMPLES[name].values;
    const terms = { [name]: value };
    const { code, stdout, stderr } = await runWith(["shorten", TARGET], name, value);
    expect([code, stderr]).toEqual([0, ""]);
    const link = JSON.parse(stdout);
    expect(link).toMatchObject(shownTerms(terms));
    await expectTerms(curt, { code: link.code, key: link.manage_key }, terms);
  });

  test.each(TERM_NAMES)("curt edit changes and removes %s", async (name) => {
    await expectChanges(curt, name, async ({ code, key }, value) => {
      const done = await runWith(["edit", code, `--key=${key}`], name, value);
      expect([done.code, done.stderr]).toEqual([0, ""]);
      expect(JSON.parse(done.stdout)).toMatchObject(shownTerms({ ...SCHEDULED, [name]: value }));
    });
  });

  test.each(TERM_NAMES)("curt shorten and curt edit name a wrong %s", async (name) => {
    const link = await createScheduled(curt, name);
    const edit = ["edit", link.code, `--key=${link.key}`];
    const shorten = ["shorten", TARGET];
    const lines: (() => ReturnType<typeof run>)[] = [];
    for (const [value, reason] of [...wrongTexts(name), ...endlessTexts(name)]) {
      lines.push(() => runWith(edit, name, value));
      if (reason !== ONLY_IN_CHANGES) lines.push(() => runWith(shorten, name, value));
    }
    if (TERMS[name].kind === "flag")
      // It takes no value.
      for (const command of [shorten, edit])
        lines.push(() => run([...command, `--${optionOf(name)}=x`], environment));
    for (const runLine of lines) {
      const { code, stdout, stderr } = await runLine();
      expect(code).toBeWithin(1, 3);
      expect(stdout).toBe("");
      expect(stderr.split("\n")[0]).toMatch(new RegExp(`\\b${name}\\b|--${optionOf(name)}\\b`));
    }
    await expectTerms(curt, link, { ...SCHEDULED, [name]: SAMPLES[name].values[0] });
  });
});

describe("the MCP tools", () => {
  const mcp = shareTools(curt);

  async function call(tool: string, terms: Readonly<Record<string, unknown>>) {
    const { isError, text, result } = await mcp.call(tool, terms);
    if (isError) throw new Error(text);
    return result as Readonly<Record<string, string>>;
  }

  test.each(TERM_NAMES)("shorten creates a link with %s, and look_inside shows it", async (name) => {
    const terms = { [name]: SAMPLES[name].values[0] };
    const link = await call("shorten", { target: TARGET, ...terms });
    expect(link).toMatchObject(shownTerms(terms));
    await expectTerms(curt, { code: link["code"] ?? "", key: link["manage_key"] ?? "" }, terms);
    // Before its start, a link is unknown.
    if (link["state"] === "active")
      expect(await call("look_inside", { link: link["code"] })).toMatchObject(shownTerms(terms, "everybody"));
  });

  test.each(TERM_NAMES)("update changes and removes %s", async (name) => {
    await expectChanges(curt, name, async ({ code, key }, value) => {
      const link = await call("update", { link: code, manage_key: key, [name]: value });
      expect(link).toMatchObject(shownTerms({ ...SCHEDULED, [name]: value }));
    });
  });

  test.each(TERM_NAMES)("shorten and update name a wrong %s", async (name) => {
    const { code, key } = await createScheduled(curt, name);
    const failures: ReturnType<typeof mcp.call>[] = [];
    for (const [value, reason] of [...wrongValues(name), ...endlessTexts(name)]) {
      const terms = { [name]: value };
      failures.push(mcp.call("update", { link: code, manage_key: key, ...terms }));
      if (reason !== ONLY_IN_CHANGES) failures.push(mcp.call("shorten", { target: TARGET, ...terms }));
    }
    for (const { isError, text } of await Promise.all(failures)) {
      expect(isError, text).toBeTrue();
      expect(text).toContain(name);
    }
    await expectTerms(curt, { code, key }, { ...SCHEDULED, [name]: SAMPLES[name].values[0] });
  });
});

describe("the operator's page", () => {
  test.each(TERM_NAMES)("shows %s", async (name) => {
    const [plain, link] = [
      await createManagedLink(curt),
      await createManagedLink(curt, { [name]: SAMPLES[name].values[0] }),
    ];
    const factsOf = async ({ code }: CreatedLink) => {
      const page = await operatorsPage(code);
      return [...page.matchAll(/<dt>(.*?)<\/dt><dd.*?>(.*?)<\/dd>/gs)].flatMap(([fact, term = ""]) =>
        // It depends on more than the term.
        term === en["preview.created"] ? [] : [fact],
      );
    };
    expect(await factsOf(link)).not.toEqual(await factsOf(plain));
  });
});

async function operatorsPage(code: string): Promise<string> {
  const signedIn = await sendForm(curt, "/admin", { token: TOKEN });
  const Cookie = (signedIn.headers.get("set-cookie") ?? "").split(";", 1).join("");
  return (await curt.fetch(`/admin/links/${code}`, { headers: { ...HTML, Cookie } })).text();
}

describe("events", () => {
  test("contain every term of a new and of a changed link", async () => {
    await using receiver = startReceiver();
    await using service = await startService({
      ADMIN_TOKEN: TOKEN,
      POSTURE: "private",
      ...receiver.settings,
    });
    const links: { name: TermName; link: ManagedLink }[] = [];
    for (const name of TERM_NAMES) links.push({ name, link: await createScheduled(service, name) });
    const expected = (nth: 0 | 1) =>
      links.map(({ name, link: { code } }) =>
        expect.objectContaining({ code, ...shownTerms({ ...SCHEDULED, [name]: SAMPLES[name].values[nth] }) }),
      );
    // Each event shows its link as it is when the event is sent.
    await receiver.until(links.length);
    for (const { name, link } of links) {
      const body = { [name]: SAMPLES[name].values[1] };
      expect((await callApi(service, "PATCH", link.path, { key: link.key, body })).status).toBe(200);
    }
    await receiver.until(2 * links.length);
    expect(receiver.events.map(({ data }) => data)).toEqual([...expected(0), ...expected(1)]);
    expect(receiver.faults).toEqual([]);
  });
});

describe("curt export and curt import", () => {
  test("move every term to another engine and back", async () => {
    await using service = await startService({ ADMIN_TOKEN: TOKEN, POSTURE: "private" });
    const links = await Promise.all(
      TERM_NAMES.map(async (name) => {
        const terms = { [name]: SAMPLES[name].values[0] };
        return { terms, link: await createManagedLink(service, terms) };
      }),
    );
    using folder = temporaryFolder();
    const path = (name: string) => join(folder.path, name);
    let from = service.databaseUrl;
    for (const [nth, to] of [await postgres.url("moved"), `sqlite:${path("moved.db")}`].entries()) {
      const file = path(`export-${nth}`);
      const settings = { PORT: "1", DATA_DIR: folder.path };
      for (const [command, DATABASE_URL] of [
        [["export"], from],
        [["import", "--new"], to],
      ] as const) {
        const { code, stderr } = await run([...command, file], { ...settings, DATABASE_URL });
        expect(code, stderr).toBe(0);
      }
      await using moved = await startService(
        { ADMIN_TOKEN: TOKEN, DATABASE_URL: to },
        { folder: path(String(nth)) },
      );
      for (const { terms, link } of links) await expectTerms(moved, link, terms);
      from = to;
    }
  });

  test.each(TERM_NAMES)("refuse a line with a wrong %s, and name it", async (name) => {
    using folder = temporaryFolder();
    const field = TERMS[name].kind === "secret" ? `${name}_hash` : name;
    const texts = TERMS[name].kind === "text" ? wrongTexts(name) : [];
    for (const value of [[], ...texts.map(([text]) => text)]) {
      const line = { ...JSON.parse(linkLine("wrong")), [field]: value };
      const settings = { PORT: "1", DATABASE_URL: `sqlite:${join(folder.path, "curt.db")}` };
      const { code, stderr } = await run(
        ["import", "--new", "-"],
        settings,
        ended([HEAD, JSON.stringify(line)], { link: 1 }),
      );
      expect(code).toBe(1);
      expect(stderr).toContain(field);
    }
  });
});

/**
 * The doors of pages: people's forms and the operator's desk. Forms are read from whatever pages the service sends, and kept
 * like old tabs: a later command sends a form as its page showed it, whatever happened since.
 */
import type { Answer, Command, Terms, Time } from "./commands.ts";
import { searchOf } from "./doors.ts";
import { keyOf } from "./model.ts";
import { headersFor, type Memory, tokenOf, type World } from "./world.ts";

interface Form {
  readonly path: string;
  /** Values that a browser sends unless somebody types or ticks something. */
  readonly fields: [name: string, value: string][];
  /** By field, the values that boxes, choices and lists offer. */
  readonly offers: Map<string, string[]>;
  readonly buttons: { readonly name: string; readonly value: string; readonly shortcut: string }[];
}

/** A response to a browser, and the request. */
interface Tab {
  readonly path: string;
  readonly cookie: string;
  readonly body: string | undefined;
  readonly openedMs: number;
  readonly who: string | undefined;
  readonly status: number;
  readonly reason: string | undefined;
  readonly location: string | undefined;
  readonly setCookie: string;
  readonly text: string;
  readonly forms: readonly Form[];
}

/** Typed or chosen values: `true` ticks a box, `false` empties it. */
type Input = Readonly<Record<string, string | boolean>>;

/** A page that is opened now or was before, and which of its forms is sent with which input. */
interface Deed {
  readonly page: string | Tab | undefined;
  readonly form?: (form: Form) => boolean;
  readonly input?: Input | undefined;
  /** Without the form, the page is the answer. */
  readonly isOptional?: boolean;
}

interface Browsing {
  readonly tabs: Map<number, Tab>;
  readonly sessions: Map<string, Tab>;
}

const HOUR_MS = 3_600_000;
/** Operators sign in again before their session of 8 hours ends, and leave older tabs alone. */
const SESSION_MS = 4 * HOUR_MS;
const DURATIONS: ReadonlyMap<number, string> = new Map([
  [24 * HOUR_MS, "24h"],
  [48 * HOUR_MS, "48h"],
  [168 * HOUR_MS, "1week"],
]);
const UNDO_KEY = "u";
const BROWSER = {
  Accept: "text/html,application/xhtml+xml",
  "User-Agent": "Mozilla/5.0 (X11; Linux x64; rv:140.0) Gecko/20100101 Firefox/140.0",
};
/** The API's status for what a page answers with 303. */
const DONE: Readonly<Partial<Record<Command["kind"], number>>> = { create: 201, report: 202, visit: 302 };

/** The service was killed, or doesn't run yet. */
class NoAnswer extends Error {}

const browsings = new WeakMap<Memory, Browsing>();

/**
 * Opens a page or sends a form. `tab` is the command that opened the form's page. Undefined if nothing was sent, because the
 * page has no such form.
 */
export async function runPage(
  world: World,
  memory: Memory,
  command: Command,
  { tab, loses = false }: { readonly tab?: number | undefined; readonly loses?: boolean },
): Promise<{ answer: Answer | undefined; from: number; to: number } | undefined> {
  const from = world.nowMs();
  const browsing = browsings.get(memory) ?? { tabs: new Map(), sessions: new Map() };
  browsings.set(memory, browsing);
  const deed = deedOf(world, memory, command, tab === undefined ? undefined : browsing.tabs.get(tab));
  if (deed === undefined) return undefined;
  try {
    const page = await perform(world, browsing, command, deed);
    if (page === undefined) return undefined;
    const next = page.status === 303 && command.kind !== "visit" ? await follow(world, command, page) : page;
    browsing.tabs.set(command.id, next);
    const answer = answerOf(memory, command, page, next);
    return { answer: loses ? undefined : answer, from, to: world.nowMs() };
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    return { answer: undefined, from, to: world.nowMs() };
  }
}

function deedOf(world: World, memory: Memory, command: Command, tab: Tab | undefined): Deed | undefined {
  const code = "code" in command ? `/${encodeURIComponent(command.code)}` : "";
  const about = (action: string) => (form: Form) =>
    // The desk has codes as they are stored.
    "code" in command &&
    form.path === `/admin/links/${encodeURIComponent(keyOf(world.settings, command.code))}` &&
    holds(form, { action });
  const reason = "reason" in command && command.reason !== undefined ? { reason: command.reason } : {};
  switch (command.kind) {
    case "create":
      return {
        page: "/",
        form: ({ offers }) => offers.has("original_url"),
        input: inputOfCreate(command),
      };
    case "read": {
      if (command.key === undefined) return { page: `${code}+manage` };
      const { key: of } = command;
      const key = of === "wrong" ? "A".repeat(22) : memory.keys.get(`${of.of}.${of.nth}`)?.manageKey;
      return key === undefined ? undefined : { page: `${code}+manage`, form: isForKey, input: { key } };
    }
    case "edit": {
      const { owner, ...change } = command.change;
      return owner === undefined
        ? { page: tab, form: (form) => holds(form, { act: "change" }), input: inputOfEdit(change) }
        : { page: tab, form: (form) => holds(form, { act: "hand-over" }), input: { owner } };
    }
    case "bring-back": {
      let left = command.nth;
      return { page: tab, form: (form) => holds(form, { act: "bring-back" }) && left-- === 0 };
    }
    case "withdraw":
      return { page: tab, form: (form) => holds(form, { act: "withdraw" }), input: { sure: true } };
    case "report":
      return {
        page: `${code}+report`,
        form: ({ offers }) => offers.has("note"),
        input: { ...reason, note: command.note ?? "" },
      };
    case "visit": {
      const { again, password, query, path = "" } = command;
      if (again !== undefined) return { page: tab?.body === undefined ? undefined : tab };
      const form =
        password === undefined
          ? {}
          : { form: ({ offers }: Form) => offers.has("password"), input: { password } };
      return { page: `${code}${path}${query === undefined ? "" : `?${query}`}`, ...form, isOptional: true };
    }
    case "view-cases":
      return { page: "/admin" };
    case "view-link":
      return { page: `/admin/links${code}` };
    case "view-hosts":
      return { page: "/admin/hosts" };
    case "view-journal":
      return { page: "/admin/journal" };
    case "search":
      return { page: `/admin/links?${searchOf(command.search)}` };
    case "answer":
      // Without a case, the form disables.
      return {
        page: tab?.forms.some(
          (form) => holds(form, { action: "nothing" }) || holds(form, { action: "reopen" }),
        )
          ? tab
          : undefined,
        form: about(command.action),
        input: { ...reason, action: command.action },
      };
    case "disable":
    case "enable":
      return { page: tab, form: about(command.kind), input: { ...reason, action: command.kind } };
    case "correct":
      if (command.change.owner !== undefined) return undefined;
      return { page: tab, form: about("change"), input: inputOfEdit(command.change) };
    case "erase":
      return { page: tab, form: about("erase"), input: { confirm: true } };
    case "block":
      return {
        page: "/admin/hosts",
        form: (form) => holds(form, { action: "block" }),
        input: { host: command.host, ...reason },
      };
    case "unblock":
      return { page: "/admin/hosts", form: (form) => holds(form, { action: "unblock", host: command.host }) };
    case "disable-found":
    case "enable-found":
    case "hand-over-found": {
      const action = command.kind.replace("-found", "");
      if (command.count === undefined)
        return { page: `/admin/found?${searchOf(command.search)}&action=${action}` };
      const isFound = (form: Form) => form.path.startsWith("/admin/found") && holds(form, { action });
      return { page: tab, form: isFound, input: "owner" in command ? { owner: command.owner } : reason };
    }
    case "undo":
      return { page: tab, form: ({ buttons }) => buttons.some(({ shortcut }) => shortcut === UNDO_KEY) };
    // These have no page, or none with a form.
    case "available":
    case "batch":
    case "import":
    case "move":
    case "preview":
    case "restart":
    case "stats":
    case "tokens":
      return undefined;
  }
}

async function perform(
  world: World,
  browsing: Browsing,
  command: Command,
  { page, form: is, input = {}, isOptional = false }: Deed,
): Promise<Tab | undefined> {
  const session = "who" in command ? await sessionOf(world, browsing, command) : undefined;
  if (session !== undefined && session.status !== 303) return session;
  const tab = typeof page === "string" ? await request(world, command, page, session?.setCookie) : page;
  if (tab === undefined) return undefined;
  if (tab.status === 401) browsing.sessions.delete(tab.who ?? "");
  if (typeof page === "string" && (is === undefined || tab.status >= 400) && !isOptional) return tab;
  if ("who" in command && (tab.who !== command.who || world.nowMs() - tab.openedMs > SESSION_MS))
    return undefined;
  if (is === undefined)
    return typeof page === "string" ? tab : request(world, command, tab.path, tab.cookie, tab.body);
  const form = tab.forms.find(is);
  const body = form && bodyOf(form, input);
  if (form === undefined || body === undefined) return isOptional ? tab : undefined;
  return request(world, command, form.path, tab.cookie, body);
}

/** The page after signing in; 303 if that worked. */
async function sessionOf(
  world: World,
  { sessions }: Browsing,
  command: Command & { who: string },
): Promise<Tab> {
  const known = sessions.get(command.who);
  if (known !== undefined && world.nowMs() - known.openedMs < SESSION_MS) return known;
  const token = new URLSearchParams({ token: tokenOf(command.who) }).toString();
  const session = await request(world, command, "/admin", "", token);
  if (session.status === 303) sessions.set(command.who, session);
  return session;
}

/** Opens the page that a form's answer leads to: it may have a button that undoes the decision, or the link's key. */
async function follow(
  world: World,
  command: Command,
  { location = "", cookie, setCookie }: Tab,
): Promise<Tab> {
  const page = await request(world, command, location.replace(/#.*/, ""), `${cookie}; ${setCookie}`);
  return { ...page, cookie };
}

function answerOf(memory: Memory, { id, kind }: Command, page: Tab, next: Tab): Answer {
  const { status, reason, location = "" } = page;
  const fields = new Map(next.forms.flatMap((form) => form.fields));
  const count = status === 200 && kind.endsWith("-found") ? fields.get("count") : undefined;
  const counted = count !== undefined && {
    changed: Number(count),
    untilMs: Date.parse(fields.get("until") ?? ""),
  };
  if (status === 303 && next.status === 401) return { status: 401 };
  if (status === 303 && kind === "create") {
    const key = decodeURIComponent(location.replace(/^\/|\+(?:#.*)?$/g, ""));
    const [, manageKey] = /#key=([\w-]+)/.exec(next.text) ?? [];
    // Somebody may have ended or disabled the link before its maker looked.
    if (manageKey !== undefined) memory.keys.set(`${id}.0`, { key, manageKey });
    return { status: 201, link: { key } };
  }
  // Browsers get no challenge, because it would open their own dialog.
  if (status === 403 && reason?.startsWith("password.") === true) return { status: 401, reason };
  if (status === 403 && reason === "operator.wrong") return { status: 401 };
  if (kind === "read" && status === 200)
    return next.forms.some(isForKey)
      ? { status: 401, reason: "key.missing" }
      : { status, offered: next.forms.filter((form) => holds(form, { act: "bring-back" })).length };
  if (kind === "visit") return { status: status === 303 ? 302 : status, reason, location: page.location };
  return { status: status === 303 ? (DONE[kind] ?? 200) : status, reason, ...counted };
}

/** Whether a manage page shows it instead of the link. */
const isForKey = ({ offers }: Form) => offers.has("key") && !offers.has("act");

/** Whether the form would send these fields, or has a button for them. */
function holds({ fields, buttons }: Form, wanted: Readonly<Record<string, string>>): boolean {
  const all = [...fields, ...buttons.map(({ name, value }) => [name, value] as const)];
  return Object.entries(wanted).every(([name, value]) =>
    all.some((one) => one[0] === name && one[1] === value),
  );
}

function inputOfCreate({ link, token }: Extract<Command, { kind: "create" }>): Input {
  return {
    original_url: link.target,
    ...(link.code !== undefined && { custom_code: link.code }),
    ...inputOfTime("expire_duration", "expires_at", link.ends, ""),
    ...(link.starts && { starts_at: localOf(link.starts) }),
    ...inputOfTerms(link),
    ...(token !== undefined && { token: tokenOf(token) }),
  };
}

function inputOfEdit({ target, ends, starts, ...terms }: Terms): Input {
  return {
    ...(target !== undefined && { target }),
    ...inputOfTime("expires_at", "expires_at_date", ends, "never"),
    ...inputOfTime("starts_at", "starts_at_date", starts, "now"),
    ...(terms.password === null && { remove: true }),
    ...inputOfTerms(terms),
  };
}

function inputOfTerms({ maxVisits, password, title, forwardQuery, forwardPath }: Terms): Input {
  return {
    ...(maxVisits !== undefined && { max_visits: String(maxVisits ?? "") }),
    ...(typeof password === "string" && { password }),
    ...(title !== undefined && { title: title ?? "" }),
    ...(forwardQuery !== undefined && { forward_query: forwardQuery }),
    ...(forwardPath !== undefined && { forward_path: forwardPath }),
  };
}

function inputOfTime(choice: string, date: string, time: Time | undefined, none: string): Input {
  if (time === undefined) return {};
  if (time === null) return { [choice]: none };
  return "atMs" in time
    ? { [choice]: "date", [date]: localOf(time) }
    : { [choice]: DURATIONS.get(time.inMs) ?? "1month" };
}

function localOf(time: NonNullable<Time>): string {
  return "atMs" in time ? new Date(time.atMs).toISOString().slice(0, 16) : "";
}

async function request(
  world: World,
  command: Command,
  path: string,
  cookie = "",
  body?: string,
): Promise<Tab> {
  const init = {
    method: body === undefined ? "GET" : "POST",
    headers: {
      ...BROWSER,
      ...headersFor(command),
      Cookie: `language=en; ${cookie}`,
      ...(body !== undefined && { "Content-Type": "application/x-www-form-urlencoded" }),
    },
    ...(body !== undefined && { body }),
  };
  const [response, text] = await world
    .fetch(path, init)
    .then(async (arrived) => [arrived, await arrived.text()] as const)
    .catch((cause: unknown) => {
      throw new NoAnswer(path, { cause });
    });
  const header = (name: string) => response.headers.get(name) ?? undefined;
  return {
    path,
    cookie,
    body,
    openedMs: world.nowMs(),
    who: "who" in command ? command.who : undefined,
    status: response.status,
    reason: header("Curt-Reason"),
    location: header("Location"),
    setCookie: response.headers
      .getSetCookie()
      .map((one) => one.replace(/;.*/s, ""))
      .join("; "),
    text,
    forms: readForms(text, path),
  };
}

/** The body that a browser sends. Undefined if the form has no such field or choice. */
function bodyOf(form: Form, input: Input): string | undefined {
  const body = new URLSearchParams(form.fields);
  for (const [name, value] of Object.entries(input)) {
    const offers = form.offers.get(name);
    if (offers === undefined || (typeof value === "string" && offers.length > 0 && !offers.includes(value)))
      return undefined;
    if (value === false) body.delete(name);
    else body.set(name, value === true ? (offers[0] ?? "") : value);
  }
  return body.toString();
}

function readForms(page: string, path: string): Form[] {
  const forms: Form[] = [];
  let list = "";
  const read = (element: HTMLRewriterTypes.Element, name: string) => decode(element.getAttribute(name) ?? "");
  const offer = (name: string, values: readonly string[]) => {
    const { offers } = forms.at(-1) ?? {};
    offers?.set(name, [...(offers.get(name) ?? []), ...values]);
  };
  const handlers: Readonly<Record<string, (element: HTMLRewriterTypes.Element) => void>> = {
    form: (form) =>
      void forms.push({ path: read(form, "action") || path, fields: [], offers: new Map(), buttons: [] }),
    "form input, form textarea": (input) => {
      const [name, value] = [read(input, "name"), read(input, "value")];
      const isChoice = /^(?:radio|checkbox)$/.test(read(input, "type"));
      offer(name, isChoice ? [value] : []);
      if (!isChoice || input.hasAttribute("checked")) forms.at(-1)?.fields.push([name, value]);
    },
    "form select": (select) => void (list = read(select, "name")),
    "form option": (option) => {
      const value = read(option, "value");
      offer(list, [value]);
      const { fields = [] } = forms.at(-1) ?? {};
      const chosen = fields.find(([name]) => name === list);
      if (chosen === undefined) fields.push([list, value]);
      else if (option.hasAttribute("selected")) chosen[1] = value;
    },
    "form button": (button) => {
      const [name, value] = [read(button, "name"), read(button, "value")];
      forms.at(-1)?.buttons.push({ name, value, shortcut: read(button, "aria-keyshortcuts") });
      if (name !== "") offer(name, [value]);
    },
  };
  const rewriter = new HTMLRewriter();
  for (const [selector, element] of Object.entries(handlers)) rewriter.on(selector, { element });
  rewriter.transform(page);
  return forms;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };

function decode(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? "");
}

import { type SecretFormat, listOf, oneOf, orAuto, type Setting } from "./setting-formats.ts";

/** An enum, because reasons of problems have some of these texts as well: only its members are types of events. */
export enum EventType {
  reportOpened = "report.opened",
  linkCreated = "link.created",
  linkChanged = "link.changed",
  linkWithdrawn = "link.withdrawn",
  linkExpired = "link.expired",
  linkDisabled = "link.disabled",
  linkEnabled = "link.enabled",
  hostBlocked = "host.blocked",
}

const EVENT_TYPES = Object.values(EventType);

const endpoint: SecretFormat<string> = {
  isSecret: true,
  right: "an https:// address, or an http:// address of this machine such as http://127.0.0.1:8000/events",
  parse(text) {
    const url = URL.parse(text);
    const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url?.hostname ?? "");
    const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLocal);
    return url !== null && isSafe && url.username === "" && url.password === "" ? url.href : undefined;
  },
  // A chat room's address is a secret.
  wrongParts: (text) => [`(${text.length} characters)`],
};

const PREFIX = "whsec_";

/** Removes the prefix. Standard Webhooks requires 24 to 64 bytes. */
const signingSecrets: SecretFormat<readonly string[]> = {
  isSecret: true,
  right: `one or more secrets of 24 to 64 bytes in Base64 after ${PREFIX}, such as "${PREFIX}$(openssl rand -base64 32)"`,
  parse(text) {
    const secrets = text.split(/[\s,]+/).filter((one) => one !== "");
    return secrets.length > 0 && secrets.every(isSecret)
      ? secrets.map((one) => one.slice(PREFIX.length))
      : undefined;
  },
  wrongParts: (text) => [`(${text.length} characters)`],
};

function isSecret(text: string): boolean {
  const bytes = Buffer.from(text.slice(PREFIX.length), "base64");
  // Node skips characters that aren't Base64. Receivers refuse them, or get another key.
  if (text !== PREFIX + bytes.toString("base64")) return false;
  return bytes.length >= 24 && bytes.length <= 64;
}

export const EVENT_SETTINGS = {
  eventsUrl: {
    name: "EVENTS_URL",
    default: "off",
    unset: null,
    meaning:
      "where Curt sends events about links, reports and hosts: an https:// address, or http:// on this machine",
    takes: endpoint,
  },
  eventsSecrets: {
    name: "EVENTS_SECRET",
    default: "none",
    unset: [],
    meaning:
      "secret that signs events: whsec_ and the output of openssl rand -base64 32; several, separated by spaces or commas, all sign",
    takes: signingSecrets,
  },
  eventsFormat: {
    name: "EVENTS_FORMAT",
    default: "cloudevents",
    meaning: "cloudevents for batches of CloudEvents in JSON, or text for one line per event for a chat room",
    takes: oneOf("cloudevents", "text"),
  },
  eventsTypes: {
    name: "EVENTS_TYPES",
    default: "auto",
    meaning:
      "types of events to send, separated by commas; auto is all of them, or only report.opened and link.disabled as text",
    takes: orAuto(listOf(oneOf(...EVENT_TYPES))),
  },
} satisfies Record<string, Setting>;

/** Events that an operator wants to know right away. */
const ALARMS: readonly EventType[] = [EventType.reportOpened, EventType.linkDisabled];

export function automaticTypes(format: "cloudevents" | "text"): readonly EventType[] {
  return format === "text" ? ALARMS : EVENT_TYPES;
}

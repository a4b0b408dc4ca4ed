import { type LinkKey, lookUpKey } from "../links/code.ts";
import { isName } from "../links/name.ts";
import { DAY_MS, isoDay, isoInstant, NEVER_MS } from "../links/time.ts";

/**
 * Imports lower the visits of a link on a day to this, far below what an export can hold (2^53), and the sum of all days (2^63).
 */
export const MAX_VISITS = 1e12;
/** PostgreSQL stores such counts as 32-bit integers. */
const MAX_INT32 = 2_147_483_647;

/** The message says what is wrong with a line, such as "created_at must be an instant". */
export class BrokenLine extends Error {
  override readonly name = "BrokenLine";
}

/** Converts a value to JSON and back. */
export interface Codec<T> {
  write(value: T): unknown;
  /** Throws {@link BrokenLine} with the name of the field if the JSON isn't valid. */
  read(json: unknown, name: string): T;
}

/** Writes an object. */
export interface RecordCodec<T> extends Codec<T> {
  write(value: T): object;
}

type Json = Readonly<Record<string, unknown>>;

export const anything: Codec<unknown> = { write: (value) => value, read: (json) => json };

/** Restricts a codec to valid values. */
export function restrict<T, Valid extends T = T>(
  codec: Codec<T>,
  isValid: (value: T) => boolean,
  rule: string,
): Codec<Valid> {
  return {
    write: codec.write,
    read(json, name) {
      const value = codec.read(json, name);
      if (!isValid(value)) throw new BrokenLine(`${name} ${rule}`);
      return value as Valid;
    },
  };
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed();
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Lowers all numbers in a value to {@link MAX_VISITS}. */
export function lowerVisits<T>(value: T): T {
  if (typeof value === "number") return Math.min(value, MAX_VISITS) as T;
  if (Array.isArray(value)) return value.map(lowerVisits) as T;
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, lowerVisits(one)])) as T;
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** May contain U+0000. */
export const anyText = restrict<unknown, string>(anything, isText, "must be a text");
/** PostgreSQL can't store U+0000. */
export const text = restrict(anyText, (value) => !value.includes("\0"), "must not contain U+0000");
/** No lookup would find a code that is stored with another spelling. */
export const code = restrict<string, LinkKey>(
  text,
  (value) => lookUpKey(value, "match") === value,
  "must be a code of at most 64 characters, in NFC and without U+FE0F",
);
export const personName = restrict(text, isName, "must be 1 to 64 letters, digits and . _ - @");
export const count = restrict<unknown, number>(anything, isCount, "must be a whole number from 0 on");
export const entryId = restrict(count, (value) => value > 0, "must be a whole number from 1 on");
export const int32Count = restrict(count, (value) => value <= MAX_INT32, `must be at most ${MAX_INT32}`);
export const visitCount: Codec<number> = {
  ...count,
  read: (json, name) => lowerVisits(count.read(json, name)),
};
export const object = restrict<unknown, Json>(anything, isObject, "must be an object");

export function oneOf<T extends string>(values: readonly T[]): Codec<T> {
  return restrict<unknown, T>(
    anything,
    (json) => values.some((value) => value === json),
    `must be ${values.join(", ")}`,
  );
}

/** Only canonical Base64 is valid, because decoders disagree about other spellings. */
export const base64: Codec<Uint8Array> = {
  write: (bytes) => Buffer.from(bytes).toString("base64"),
  read(json, name) {
    const value = text.read(json, name);
    const bytes = Buffer.from(value, "base64");
    if (bytes.length === 0 || bytes.toString("base64") !== value)
      throw new BrokenLine(`${name} must be bytes in Base64`);
    return Uint8Array.from(bytes);
  },
};

export const instant: Codec<number> = {
  write: isoInstant,
  read(json, name) {
    const ms = typeof json === "string" ? Date.parse(json) : Number.NaN;
    if (!(ms >= 0 && ms <= NEVER_MS) || isoInstant(ms) !== json)
      throw new BrokenLine(`${name} must be an instant from 1970 to 9999 such as 2026-11-22T10:00:00.000Z`);
    return ms;
  },
};

/** {@link NEVER_MS} is omitted. */
export const end: Codec<number> = {
  write: (ms) => (ms === NEVER_MS ? undefined : instant.write(ms)),
  read: (json, name) => (json === undefined ? NEVER_MS : instant.read(json, name)),
};

export const day: Codec<number> = {
  write: isoDay,
  read(json, name) {
    const number = typeof json === "string" ? Date.parse(json) / DAY_MS : Number.NaN;
    if (!Number.isInteger(number) || number < 0 || number > NEVER_MS / DAY_MS || isoDay(number) !== json)
      throw new BrokenLine(`${name} must be a day from 1970 to 9999 such as 2026-11-22`);
    return number;
  },
};

export function optional<T>(codec: Codec<T>): Codec<T | undefined> {
  return {
    write: (value) => (value === undefined ? undefined : codec.write(value)),
    read: (json, name) => (json === undefined ? undefined : codec.read(json, name)),
  };
}

/** Like {@link optional}, for `null` or another value in its place. */
export function orNull<T, None = null>(codec: Codec<T>, none = null as None): Codec<T | None> {
  return {
    write: (value) => (value === none ? undefined : codec.write(value as T)),
    read: (json, name) => (json === undefined ? none : codec.read(json, name)),
  };
}

export function list<T>(codec: Codec<T>): Codec<readonly T[]> {
  return {
    write: (values) => values.map(codec.write),
    read(json, name) {
      if (!Array.isArray(json) || !json.every(isObject))
        throw new BrokenLine(`${name} must be a list of objects`);
      return json.map((value) => codec.read(value, name));
    },
  };
}

/** An object with some of these keys, written in this order. Reading ignores other keys unless it rejects them. */
export function byKey<K extends string, T>(
  keys: readonly K[],
  codec: Codec<T>,
  { rejectOthers = false } = {},
): Codec<Partial<Record<K, T>>> {
  const mapValues = (values: Json, convert: (value: unknown, name: K) => unknown) =>
    Object.fromEntries(
      keys.filter((name) => values[name] !== undefined).map((name) => [name, convert(values[name], name)]),
    );
  return {
    write: (values) => mapValues(values, (value) => codec.write(value as T)),
    read(json, name) {
      const values = object.read(json, name);
      if (rejectOthers) for (const other of Object.keys(values)) oneOf(keys).read(other, "name");
      return mapValues(values, (value, key) => codec.read(value, `${name}.${key}`)) as Partial<Record<K, T>>;
    },
  };
}

/** The name in JSON and the codec of each property. */
export type Fields<T> = {
  readonly [Property in keyof T]-?: readonly [name: string, codec: Codec<T[Property]>];
};

/** An object with these fields, written in this order. */
export function record<T>(fields: Fields<T>): RecordCodec<T> {
  const entries = Object.entries(fields) as [keyof T, readonly [string, Codec<unknown>]][];
  return {
    write(value) {
      const json: Record<string, unknown> = {};
      for (const [property, [name, codec]] of entries) json[name] = codec.write(value[property]);
      return json;
    },
    read(json, name) {
      const values = object.read(json, name);
      const value: Partial<Record<keyof T, unknown>> = {};
      for (const [property, [field, codec]] of entries) value[property] = codec.read(values[field], field);
      return value as T;
    },
  };
}

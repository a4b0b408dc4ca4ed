// Reads the fields of a line. Each throws {@link BrokenLine} if the field is not what it should be.
import { type Code, lookUpCode } from "../links/code.ts";
import { isoDay } from "../links/time.ts";
import { NEVER_MS } from "../links/time.ts";
import { DAY_MS } from "../links/time.ts";

const MAX_REPORTS = 2_147_483_647;

/** What is wrong with a line, such as "created must be an instant". */
export class BrokenLine extends Error {
  override readonly name = "BrokenLine";
}

export type Fields = Readonly<Record<string, unknown>>;

/** Undefined if the line is no JSON object. */
export function parseObject(line: string | undefined): Fields | undefined {
  if (line === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown): value is string {
  return typeof value === "string" && value.isWellFormed();
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function optional<T>(
  read: (fields: Fields, name: string) => T,
  fields: Fields,
  name: string,
): T | undefined {
  return fields[name] === undefined ? undefined : read(fields, name);
}

/** Of any characters. */
export function anyText(fields: Fields, name: string): string {
  const value = fields[name];
  if (!isText(value)) throw new BrokenLine(`${name} must be a text`);
  return value;
}

/** Not every store can keep U+0000. */
export function text(fields: Fields, name: string): string {
  const value = anyText(fields, name);
  if (value.includes("\0")) throw new BrokenLine(`${name} must not contain U+0000`);
  return value;
}

/** Another spelling would be stored where no look-up finds it. */
export function code(fields: Fields, name: string): Code {
  const value = text(fields, name);
  if (lookUpCode(value) !== value)
    throw new BrokenLine(`${name} must be a code of at most 64 characters, in NFC and without U+FE0F`);
  return value as Code;
}

/** Decoders differ in what they make of other spellings. */
export function bytes(fields: Fields, name: string): Uint8Array<ArrayBuffer> {
  const value = text(fields, name);
  const decoded = Buffer.from(value, "base64");
  if (decoded.length === 0 || decoded.toString("base64") !== value)
    throw new BrokenLine(`${name} must be bytes in Base64`);
  return Uint8Array.from(decoded);
}

export function count(fields: Fields, name: string): number {
  const value = fields[name];
  if (!isCount(value)) throw new BrokenLine(`${name} must be a whole number from 0 on`);
  return value;
}

/** Not every store can keep more reports of a link. */
export function reportCount(fields: Fields, name: string): number {
  const value = count(fields, name);
  if (value > MAX_REPORTS) throw new BrokenLine(`${name} must be at most ${MAX_REPORTS}`);
  return value;
}

export function object(fields: Fields, name: string): Fields {
  const value = fields[name];
  if (!isObject(value)) throw new BrokenLine(`${name} must be an object`);
  return value;
}

export function list(fields: Fields, name: string): readonly Fields[] {
  const value = fields[name];
  if (!Array.isArray(value) || !value.every(isObject))
    throw new BrokenLine(`${name} must be a list of objects`);
  return value;
}

export function oneOf<T extends string>(values: readonly T[]) {
  return (fields: Fields, name: string): T => {
    const found = values.find((value) => value === fields[name]);
    if (found === undefined) throw new BrokenLine(`${name} must be ${values.join(", ")}`);
    return found;
  };
}

export function instant(fields: Fields, name: string): number {
  const value = fields[name];
  const ms = typeof value === "string" ? Date.parse(value) : Number.NaN;
  if (!(ms >= 0 && ms <= NEVER_MS) || new Date(ms).toISOString() !== value)
    throw new BrokenLine(`${name} must be an instant from 1970 to 9999 such as 2026-11-22T10:00:00.000Z`);
  return ms;
}

export function dayNumber(fields: Fields, name: string): number {
  const value = fields[name];
  const day = typeof value === "string" ? Date.parse(value) / DAY_MS : Number.NaN;
  // Day 0 is the sum of days that are too old to be told.
  if (!Number.isInteger(day) || day < 1 || day > NEVER_MS / DAY_MS || isoDay(day) !== value)
    throw new BrokenLine(`${name} must be a day from 1970-01-02 to 9999-12-31 such as 2026-11-22`);
  return day;
}

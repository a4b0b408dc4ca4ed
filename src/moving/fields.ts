// Reads the fields of a line. Each throws {@link BrokenLine} if the field is not what it should be.
import { DAY_MS } from "../links/time.ts";
import { dayName } from "./export-line.ts";

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
  if (typeof value !== "string" || !value.isWellFormed()) throw new BrokenLine(`${name} must be a text`);
  return value;
}

/** Not every store can keep U+0000. */
export function text(fields: Fields, name: string): string {
  const value = anyText(fields, name);
  if (value.includes("\0")) throw new BrokenLine(`${name} must not contain U+0000`);
  return value;
}

export function count(fields: Fields, name: string): number {
  const value = fields[name];
  if (!isCount(value)) throw new BrokenLine(`${name} must be a whole number from 0 on`);
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
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== value)
    throw new BrokenLine(`${name} must be an instant such as 2026-11-22T10:00:00.000Z`);
  return ms;
}

export function dayNumber(fields: Fields, name: string): number {
  const value = fields[name];
  const day = typeof value === "string" ? Date.parse(value) / DAY_MS : Number.NaN;
  if (!Number.isInteger(day) || dayName(day) !== value)
    throw new BrokenLine(`${name} must be a day such as 2026-11-22`);
  return day;
}

/** The parts of an OpenAPI 3.1 document that the reference page shows. */
export interface ApiDescription {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

interface OperationObject {
  readonly operationId: string;
  readonly tags?: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, Answer>>;
  /** Alternatives, by the names of {@link SCHEMES}. An empty one means that the operation also works without. */
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema & { readonly example?: string; readonly default?: string | number };
}

export interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly description: string; readonly required?: boolean }>>;
  readonly content?: Content;
}

/** The keys are media types, such as application/json. */
type Content = Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;

export interface Schema {
  readonly $ref?: string;
  /** Our document uses it only for nullable schemas. */
  readonly oneOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  /** Like maxLength, but counted after normalisation, so a validator can't apply it to the original text. */
  readonly "x-max-length"?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

/** Properties that share one schema are one field. */
export interface Field {
  readonly names: readonly string[];
  readonly required: boolean;
  readonly description?: string | undefined;
  readonly schema: Schema;
}

/** The tags of each group of the page, in the page's order. */
const GROUPS = {
  links: ["Links", "Reports"],
  statistics: ["Statistics"],
  qr: ["QR codes"],
  reference: ["Reference"],
} as const;
export type Group = keyof typeof GROUPS;

export function operationsByGroup({ paths }: ApiDescription): [Group, Operation[]][] {
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => {
      return { ...operation, path, method: method.toUpperCase() };
    }),
  );
  const isOf =
    (names: readonly string[]) =>
    ({ tags = ["Links"] }: Operation) =>
      tags.some((tag) => names.includes(tag));
  return Object.entries(GROUPS).map(([group, names]) => [group as Group, operations.filter(isOf(names))]);
}

export function operationsOf(api: ApiDescription): Operation[] {
  return operationsByGroup(api).flatMap(([, operations]) => operations);
}

/** The guide explains these headers for all operations. */
export const EXPLAINED_ONCE: readonly string[] = [
  "Curt-Reason",
  "Request-Id",
  "RateLimit",
  "RateLimit-Policy",
];

/** Status, media type and schema of the successful response, which is the first one in our document. */
export function answerOf({ responses }: Operation) {
  const [[status, { content = {} }] = ["", {}]] = Object.entries(responses);
  const [[type, { schema }] = ["", { schema: {} }]] = Object.entries(content);
  return { status, type, schema };
}

/** The security schemes: the token of the service, and the manage key of a link. */
export const SCHEMES = { token: "token", key: "manageKey" } as const;

/** Whether an operation accepts the scheme, if only optionally. */
export function takes({ security = [] }: OperationObject, scheme: keyof typeof SCHEMES): boolean {
  return security.some((names) => SCHEMES[scheme] in names);
}

export function needs({ security = [] }: OperationObject, scheme: keyof typeof SCHEMES): boolean {
  return security.length > 0 && security.every((names) => SCHEMES[scheme] in names);
}

export function isRedirect(operation: Operation): boolean {
  return answerOf(operation).status.startsWith("3");
}

/** Resolves `$ref` and `oneOf`. Keywords next to a reference override those of its target. */
export function dereference(api: ApiDescription, { $ref = "", oneOf = [], ...own }: Schema): Schema {
  const [, name = ""] = /^#\/components\/schemas\/(\w+)$/.exec($ref) ?? [];
  const parts = [api.components.schemas[name] ?? {}, ...oneOf.map((one) => dereference(api, one)), own];
  const types = parts.flatMap(({ type = [] }) => type);
  return Object.assign({}, ...parts, types.length > 0 && { type: types }) as Schema;
}

export function fieldsOf({ properties = {}, required = [] }: Schema): Field[] {
  const alike = Map.groupBy(Object.entries(properties), ([name, { $ref }]) => $ref ?? name);
  return [...alike.values()].flatMap((entries) => {
    const names = entries.map(([name]) => name);
    return entries.slice(0, 1).map(([name, schema]) => {
      return { names, required: required.includes(name), description: schema.description, schema };
    });
  });
}

/** `string`, `integer`, `object[]`, … */
export function typeOf(api: ApiDescription, schema: Schema): string {
  const { type = "object", items } = dereference(api, schema);
  if (items !== undefined) return `${typeOf(api, items)}[]`;
  return [type].flat().join(" | ");
}

/** An example for a schema, from the examples of its required properties. Undefined if one of them has none. */
export function exampleOf(api: ApiDescription, schema: Schema): unknown {
  const { example, enum: values, properties, required = [] } = dereference(api, schema);
  if (example !== undefined) return example;
  if (values !== undefined) return values[0];
  if (properties === undefined) return undefined;
  const entries = required.map((name) => [name, exampleOf(api, properties[name] ?? {})] as const);
  return entries.some(([, value]) => value === undefined) ? undefined : Object.fromEntries(entries);
}

import type { Format } from "./formats.ts";

/** One environment variable. */
export interface Setting<T = unknown> {
  readonly name: string;
  /** The default as the documentation shows it. If the variable is unset or empty, this text is parsed instead. */
  readonly default: string;
  /** The value if the variable is unset, for settings whose `default` is a description that cannot be parsed. */
  readonly unset?: null | readonly never[];
  /** The text in `curt --help` and the README. */
  readonly meaning: string;
  readonly takes: Format<T>;
}

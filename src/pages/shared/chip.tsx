/** @jsxImportSource ./html */
import type { Child } from "./html/jsx-runtime.ts";

interface ChipProps {
  /** Its shape: a dot, half a dot, a dash, a square, a tick. Without one, it is only a fact. */
  readonly kind?: "works" | "deadline" | "ended" | "refused" | "kept";
  readonly children: Child;
}

/** A state or a fact, in a few words. */
export function Chip({ kind, children }: ChipProps) {
  return (
    <span class={kind === undefined ? "chip" : `chip ${kind}`}>
      <span>{children}</span>
    </span>
  );
}

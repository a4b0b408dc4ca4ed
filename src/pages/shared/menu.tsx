/** @jsxImportSource ./html */
import type { Child } from "./html/jsx-runtime.ts";

interface MenuProps {
  /** Unique on the page. */
  readonly id: string;
  /** Classes of the button: `opens` shows an arrow. */
  readonly kind: string;
  /** The menu's name. */
  readonly label: string;
  /** The button's content. */
  readonly sign: Child;
  /** Links and buttons. An impossible one is a paragraph that says why. */
  readonly children: Child;
}

/** A button and its menu, which works without scripts. */
export function Menu({ id, kind, label, sign, children }: MenuProps) {
  return (
    <>
      <button type="button" class={kind} popovertarget={id}>
        {sign}
      </button>
      <nav id={id} class="menu" popover="auto" aria-label={label}>
        {children}
      </nav>
    </>
  );
}

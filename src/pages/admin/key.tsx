/** @jsxImportSource ../shared/html */

/** A key, which touch screens and pages without scripts don't show. */
export function Key({ name }: { name: string }) {
  return <kbd aria-hidden="true">{name}</kbd>;
}

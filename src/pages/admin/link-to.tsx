/** @jsxImportSource ../shared/html */
import { withQuery } from "../shared/with-query.ts";

/** Text from outside: isolated, whatever its direction, and never a link. */
export function Given({ text }: { text: string }) {
  return <bdi dir="auto">{text}</bdi>;
}

export function LinkTo({ code }: { code: string }) {
  return (
    <a href={linkPath(code)}>
      <Given text={code} />
    </a>
  );
}

export function linkPath(code: string): string {
  return `/admin/links/${encodeURIComponent(code)}`;
}

/** The desk with a case, or its question before a decision. */
export function deskPath(code: string | undefined, more: Readonly<Record<string, string>> = {}): string {
  return withQuery("/admin", { ...(code !== undefined && { code }), ...more });
}

import type { Answer } from "./connections.ts";
import type { BenchLink } from "./links.ts";

/** Throws when an answer has another status; a load that gets one measures nothing. */
export function expectStatus({ status, head, body }: Answer, wanted: number): void {
  if (status !== wanted)
    throw new Error(`answered ${status}, not ${wanted}:\n${head}\n\n${body.slice(0, 500)}`);
}

export function expectTarget({ head }: Answer, link: BenchLink = ["", ""]): void {
  if (link[1] === "" || head.split("\r\n").includes(`Location: ${link[1]}`)) return;
  throw new Error(`${link[0]} does not lead to ${link[1]}:\n${head}`);
}

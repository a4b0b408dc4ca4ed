import { type Code, parseCode } from "./code.ts";
import { isProblem } from "./problem.ts";

const MOST = 3;
const LAST_SUFFIX = 9;

/** Up to three codes like one that is taken. Asks about eight at most. */
export async function freeVariants(code: Code, isFree: (code: Code) => Promise<boolean>): Promise<Code[]> {
  const free: Code[] = [];
  for (let suffix = 2; suffix <= LAST_SUFFIX && free.length < MOST; suffix++) {
    const variant = parseCode(`${code}-${suffix}`);
    if (!isProblem(variant) && (await isFree(variant))) free.push(variant);
  }
  return free;
}

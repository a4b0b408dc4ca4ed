/** @jsxImportSource hono/jsx */
import { message } from "../../language/messages.ts";
import { framed, type Operator } from "./frame.tsx";

/** Where the operator starts. */
export function figuresPage(operator: Operator): string {
  const { language } = operator;
  return framed(operator, "figures", message(language, "admin.figures"), <></>);
}

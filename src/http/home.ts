import { negotiateLanguage } from "../language/language.ts";
import { homePage } from "../pages/home.tsx";
import { html } from "./answers.ts";
import { operations } from "./schemas.ts";

export function home({ headers }: Request, baseUrl: string): Response {
  const language = negotiateLanguage(headers.get("accept-language"));
  return html(200, homePage(language, `${baseUrl}${operations.shorten.path}`), language);
}

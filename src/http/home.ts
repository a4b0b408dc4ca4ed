import { homePage } from "../pages/home.tsx";
import { html } from "./answers.ts";
import { operations } from "./schemas.ts";

export function home(request: Request, baseUrl: string): Response {
  return html(request, 200, (language) => homePage(language, `${baseUrl}${operations.shorten.path}`));
}

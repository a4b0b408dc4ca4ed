// The examples of docs/single-sign-on.md, and a program that signs people in by a cookie.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT } from "../../support/service.ts";

export const blocksOf = (file: string, language: string) =>
  [
    ...readFileSync(join(ROOT, file), "utf8").matchAll(
      new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"),
    ),
  ].map(([, text = ""]) => text);
export const [SITE = ""] = blocksOf("docs/proxies.md", "nginx");
const [nginxForPeople = "", ...nginxParts] = blocksOf("docs/single-sign-on.md", "nginx").toReversed();
const [caddyForPeople = "", ...caddySites] = blocksOf("docs/single-sign-on.md", "caddyfile").toReversed();
/** With the lines that name colleagues, for Authelia or, changed as the document says, for oauth2-proxy. */
export const IN_NGINX = nginxParts.map(
  (part) =>
    part +
    (part.includes("oauth2")
      ? nginxForPeople
          .replaceAll("/.auth", "/oauth2/auth")
          .replaceAll("remote_user", "x_auth_request_email")
          .replace(/https:\/\/auth\S+/, "https://$host/oauth2/start?rd=$request_uri;")
      : nginxForPeople),
);
export const IN_CADDY = caddySites.map((site) => {
  const lines = site.includes("oauth2")
    ? caddyForPeople
        .replaceAll("127.0.0.1:9091", "127.0.0.1:4180")
        .replaceAll("/api/authz/forward-auth", "/oauth2/auth")
        .replaceAll("copy_headers Remote-User", "copy_headers X-Auth-Request-Email")
        .replace(
          /(forward_auth @people[^}]*?)(\n\t\t\})/,
          "$1\n\t\t\t@nobody status 401\n\t\t\thandle_response @nobody {\n\t\t\t\tredir * /oauth2/start?rd={uri}\n\t\t\t}$2",
        )
    : caddyForPeople;
  return site.replace(/^\t\trequest_header -Remote-User\n/m, (line) => `${line}${lines}`);
});

/** Like Authelia and oauth2-proxy: 200 with the name of the person whose cookie is right, 401 or 302 without one. */
export function startAuthenticator(port: number) {
  const asked: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    fetch({ url, headers }) {
      asked.push(new URL(url).pathname);
      const [, name] = /session=of-(\w+)/.exec(headers.get("cookie") ?? "") ?? [];
      // For Caddy, Authelia redirects browsers itself.
      const status = new URL(url).pathname === "/api/authz/forward-auth" ? 302 : 401;
      const Location = "https://auth.example.com/";
      if (name === undefined)
        return new Response(null, { status, headers: { "Remote-User": "nobody", Location } });
      return new Response(null, {
        headers: { "Remote-User": name, "X-Auth-Request-Email": `${name}@example.com` },
      });
    },
  });
  return { asked, [Symbol.asyncDispose]: () => server.stop(true) };
}

/** The example for nginx, with the part for Authelia or oauth2-proxy where the document says. */
export const siteWith = (part: string) =>
  SITE.replace(/^ {2}# No path after the name/m, (line) => `${part}\n${line}`);

export const [CADDY_SITE = ""] = caddySites;

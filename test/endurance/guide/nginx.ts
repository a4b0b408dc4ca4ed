// Starts nginx with the examples of the documents.
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { freePort } from "../../support/free-port.ts";
import { ROOT, type Settings, startService, temporaryFolder } from "../../support/service.ts";

/** Debian installs it in a folder that only root's PATH has. */
export const NGINX = Bun.which("nginx", { PATH: `${process.env["PATH"] ?? ""}:/usr/sbin:/usr/local/sbin` });
const CERTIFICATE = join(ROOT, "test/http/certificates/first.pem");
export const OWN = "go.example.com";
export const OTHER = "other.example";

/** Replaces only what belongs to the machine: names, ports, and paths. */
function onThisMachine(file: string, folder: string, ports: { curt: string; http: number; https: number }) {
  const replacements: readonly [RegExp, string][] = [
    [/^ *listen \[::\].*\n/gm, ""],
    [/\blisten 80\b/g, `listen 127.0.0.1:${ports.http}`],
    [/\blisten 443\b/, `listen 127.0.0.1:${ports.https}`],
    [/\bserver 127\.0\.0\.1:3000\b/, `server 127.0.0.1:${ports.curt}`],
    [/\/etc\/letsencrypt\/live\/\S+\.pem/g, CERTIFICATE],
    [/\bserver_name go\.example\.com;/g, `server_name ${OWN} ${OTHER};`],
  ];
  const replaced = replacements.reduce((text, [pattern, by]) => {
    expect(text).toMatch(pattern);
    return text.replace(pattern, by);
  }, file);
  return `
daemon off;
${process.getuid?.() === 0 ? "user root;" : ""}
pid ${folder}/nginx.pid;
error_log stderr;
events {}
http {
  client_body_temp_path ${folder}/client;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
${replaced.replaceAll("/var/cache/nginx", folder)}
}
`;
}

/** Starts Curt with two domains, and nginx in front of it. */
export async function startBehindNginx(file: string, settings: Settings = {}) {
  await using opened = new AsyncDisposableStack();
  const { path: folder } = opened.use(temporaryFolder());
  const curt = opened.use(
    await startService({
      BASE_URL: `https://${OWN}`,
      DOMAINS: `https://${OTHER}`,
      TRUSTED_PROXIES: "127.0.0.1",
      ...settings,
    }),
  );
  const ports = { curt: new URL(curt.origin).port, http: await freePort(), https: await freePort() };
  writeFileSync(join(folder, "nginx.conf"), onThisMachine(file, folder, ports));
  const child = Bun.spawn(
    [NGINX ?? "nginx", "-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")],
    {
      stdio: ["ignore", "inherit", "inherit"],
    },
  );
  opened.defer(async () => {
    child.kill("SIGTERM");
    await child.exited;
  });
  const request = (origin: string, host: string, path: string, init: BunFetchRequestInit = {}) =>
    fetch(`${origin}${path}`, {
      redirect: "manual",
      tls: { rejectUnauthorized: false },
      ...init,
      headers: { ...(init.headers as Record<string, string> | undefined), Host: host },
    });
  const https = `https://127.0.0.1:${ports.https}`;
  while (child.exitCode === null && !(await request(https, OWN, "/livez").catch(() => undefined))?.ok)
    await Bun.sleep(5);
  expect(child.exitCode).toBeNull();
  const parts = opened.move();
  return {
    curt,
    origin: https,
    get: (host: string, path: string, init?: BunFetchRequestInit) => request(https, host, path, init),
    getPlain: (host: string, path: string) => request(`http://127.0.0.1:${ports.http}`, host, path),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

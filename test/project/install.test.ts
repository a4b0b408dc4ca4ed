import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { COMMANDS } from "../../src/cli/commands.ts";
import { readConfig } from "../../src/config/config.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { ROOT, temporaryFolder } from "../support/service.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const NAMES: readonly string[] = Object.values(SETTINGS).map(({ name }) => name);

/** Checks that all of these are settings with valid values. */
function configOf(environment: Readonly<Record<string, string>>) {
  expect(NAMES).toContainValues(Object.keys(environment));
  return readConfig(environment);
}

/** Parses `A=1 B=2`, as in systemd units and Containerfiles. */
const assignments = (text: string) =>
  Object.fromEntries([...text.matchAll(/(\w+)=(\S+)/g)].map(([, name = "", value = ""]) => [name, value]));

/** The last value of each directive of a systemd unit. */
function directivesOf(unit: string): Map<string, string> {
  return new Map([...unit.matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]));
}

test("the systemd unit starts an existing command, and gives Curt one writable folder", () => {
  const unit = directivesOf(read("examples/curt.service"));
  const [, command = ""] = unit.get("ExecStart")?.split(" ") ?? [];
  expect(Object.keys(COMMANDS)).toContain(command);
  const { database, journalFolder, listFolder } = configOf(assignments(unit.get("Environment") ?? ""));
  const folder = `/var/lib/${unit.get("StateDirectory")}/`;
  expect(database).toMatchObject({ engine: "sqlite" });
  for (const path of ["path" in database ? database.path : "", journalFolder, listFolder])
    expect(path).toStartWith(folder);
  expect([unit.get("DynamicUser"), unit.get("ProtectSystem"), unit.get("CapabilityBoundingSet")]).toEqual([
    "yes",
    "strict",
    "",
  ]);
  // Each was tried under systemd: without netlink Curt does not start, and without the calls of @resources it makes no pages.
  expect(unit.get("RestrictAddressFamilies")).toContain("AF_NETLINK");
  expect(read("examples/curt.service")).toMatch(/^SystemCallFilter=@system-service$/m);
  expect(read("examples/curt.service")).not.toMatch(
    /^(?:MemoryDenyWriteExecute|SystemCallFilter=~.*@resources)/m,
  );
  // A wrong setting would be wrong again.
  expect(unit.get("RestartPreventExitStatus")).toBe("2");
});

test("the shell can read the settings file of the systemd unit", async () => {
  using folder = temporaryFolder();
  const guide = read("docs/install.md").replaceAll("/etc/curt.env", join(folder.path, "curt.env"));
  const [, write = ""] = /^```sh\n(umask 077\n.+?)^```$/ms.exec(guide) ?? [];
  const [use = ""] = /^set -a && .+$/m.exec(guide) ?? [];
  const env = { PATH: process.env["PATH"] ?? "" };
  const child = Bun.spawn(["sh", "-c", `${write}\n${use}\nenv -0`], { env, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  expect(stderr).toBe("");
  const variables = stdout.split("\0").map((line) => line.split(/=(.*)/s, 2) as [string, string]);
  expect(readConfig(Object.fromEntries(variables))).toMatchObject({
    instanceName: "Our links",
    posture: "public",
    metrics: { host: "127.0.0.1", port: 9464 },
    database: { path: "/var/lib/curt/curt.db" },
  });
});

if (Bun.which("systemd-analyze") !== null) {
  test("systemd accepts the unit, and rates its exposure at most 2", async () => {
    const unit = join(ROOT, "examples/curt.service");
    const analyze = async (...args: string[]) => {
      const child = Bun.spawn(["systemd-analyze", ...args], { stdout: "pipe", stderr: "pipe" });
      return `${await child.stdout.text()}${await child.stderr.text()}`;
    };
    const warnings = (await analyze("verify", unit))
      .split("\n")
      .filter((line) => line.includes("curt.service"));
    // The executable is not installed here.
    expect(warnings.filter((line) => !line.includes("/usr/local/bin/curt"))).toEqual([]);
    const [, exposure] =
      /exposure level for curt\.service: ([\d.]+)/.exec(await analyze("security", "--offline=true", unit)) ??
      [];
    expect(Number(exposure)).toBeLessThanOrEqual(2);
  });
}

function settingsOfImage() {
  const [, environment = ""] = /^ENV (HOST=.+)$/m.exec(read("Containerfile")) ?? [];
  return assignments(environment);
}

test("the Containerfile copies existing files, has valid settings, and runs existing commands", () => {
  const file = read("Containerfile");
  for (const [, sources = ""] of file.matchAll(/^COPY (?!--)(.+) \S+$/gm))
    for (const path of sources.split(" ")) expect([path, existsSync(join(ROOT, path))]).toEqual([path, true]);
  const { database, host, port } = configOf(settingsOfImage());
  expect([host, database, port]).toEqual(["0.0.0.0", { engine: "sqlite", path: "/data/curt.db" }, 3000]);
  expect(file).toContain("\nEXPOSE 3000\n");
  expect(file).toMatch(/^ENV IMAGE_USER=65532$/m);
  for (const [, command = ""] of file.matchAll(/CMD \[(?:".*curt", )?"(\w+)"\]/g))
    expect(Object.keys(COMMANDS)).toContain(command);
});

test("the Compose example has valid settings, and trusts its proxy", () => {
  const { services, configs } = Bun.YAML.parse(read("examples/compose.yaml")) as {
    services: {
      curt: {
        environment: Record<string, string | null>;
        read_only: boolean;
        user: string;
        build: { dockerfile: string };
      };
      caddy: { networks: { default: { ipv4_address: string } } };
    };
    configs: { caddy: { content: string } };
  };
  const { curt, caddy } = services;
  const given = Object.entries(curt.environment);
  expect(NAMES).toContainValues(given.map(([name]) => name));
  const set = given.flatMap(([name, value]) =>
    value === null ? [] : [[name, value.replace("${DOMAIN:-localhost}", "go.example.com")]],
  );
  const config = configOf(Object.fromEntries(set) as Record<string, string>);
  expect(config).toMatchObject({ baseUrl: "https://go.example.com", posture: "public" });
  expect(config.trustedProxies).toEqual(
    readConfig({ TRUSTED_PROXIES: caddy.networks.default.ipv4_address }).trustedProxies,
  );
  expect(curt.read_only).toBe(true);
  // Without capabilities, root couldn't become this user.
  expect(curt.user).toBe("65532:65532");
  expect(existsSync(join(ROOT, curt.build.dockerfile))).toBe(true);
  expect(configs.caddy.content).toContain("reverse_proxy curt:3000");
});

test("the Kubernetes example has valid settings, restricts Curt, and gives it time to stop", () => {
  const [{ spec }] = Bun.YAML.parse(read("examples/kubernetes.yaml")) as [
    {
      spec: {
        template: {
          spec: {
            terminationGracePeriodSeconds: number;
            securityContext: object;
            containers: [
              {
                env: { name: string; value?: string }[];
                securityContext: object;
                ports: { containerPort: number }[];
                volumeMounts: { mountPath: string }[];
                livenessProbe: { httpGet: { path: string } };
                readinessProbe: { httpGet: { path: string } };
              },
            ];
          };
        };
      };
    },
  ];
  const pod = spec.template.spec;
  const [curt] = pod.containers;
  const environment = curt.env.map(({ name, value = "0123456789abcdef" }) => [name, value] as const);
  const config = configOf({ ...settingsOfImage(), ...Object.fromEntries(environment) });
  expect(config).toMatchObject({
    baseUrl: "https://go.example.com",
    database: { engine: "postgres" },
    adminToken: [{ secret: "0123456789abcdef" }],
  });
  const mounts = curt.volumeMounts.map(({ mountPath }) => mountPath);
  expect(mounts).toContain(config.journalFolder.replace(/\/curt-visits$/, ""));
  expect(curt.ports[0]?.containerPort).toBe(config.port);
  // 10 s for the last requests, and time to write the last visits.
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(config.drainWaitMs / 1000 + 30);
  expect([curt.livenessProbe.httpGet.path, curt.readinessProbe.httpGet.path]).toEqual(["/livez", "/readyz"]);
  expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 65532 });
  expect(curt.securityContext).toMatchObject({
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ["ALL"] },
  });
});

/** The examples of docs/proxies.md, by the name of the proxy. */
const [, ...SECTIONS] = read("docs/proxies.md").split(/^## /m);
const PROXIES = new Map(
  SECTIONS.map((section) => [
    section.split("\n", 1)[0] ?? "",
    [...section.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => text).join("\n"),
  ]),
);

const HSTS = "Strict-Transport-Security max-age=31536000";

/** Lines that trials with these proxies have shown to be necessary. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  Caddy: [HSTS, "read_header 10s", "idle 1m", "reverse_proxy 127.0.0.1:3000", "keepalive 15s"],
  nginx: [
    `add_header ${HSTS} always;`,
    "proxy_cache_key $request_method$host$request_uri;",
    "proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;",
    "proxy_set_header Host $host;",
    "proxy_http_version 1.1;",
    'proxy_set_header Connection "";',
    "proxy_pass http://curt;",
    "keepalive_timeout 15s;",
    "merge_slashes off;",
    "client_max_body_size 1m;",
    "proxy_read_timeout 2m;",
    "access_log off;",
    "443 ssl http2;",
  ],
  HAProxy: [
    `http-after-response set-header ${HSTS} if { ssl_fc }`,
    "option forwardfor",
    "option accept-invalid-http-request",
    "http-reuse never",
    "timeout client 2m",
    "option httpchk GET /readyz",
    "alpn h2,http/1.1",
  ],
  Traefik: [
    "stsSeconds: 31536000",
    "[hsts, connections]",
    "idleConnTimeout: 15s",
    "sanitizePath: false",
    "http://127.0.0.1:3000",
  ],
};

test("the proxy examples have the lines that Curt needs, and don't expose the metrics", () => {
  for (const [proxy, lines] of Object.entries(NEEDED)) {
    const example = PROXIES.get(proxy) ?? "";
    for (const line of lines) expect([proxy, line, example.includes(line)]).toEqual([proxy, line, true]);
    expect(example).not.toMatch(/9464|metrics/i);
    // It makes equal requests wait for each other up to 5 s, even for responses that can't be cached.
    expect(example).not.toContain("proxy_cache_lock");
    // nginx would decode the path if there were one after the name.
    expect(example).not.toMatch(/proxy_pass http:\/\/\w+\//);
  }
});

test("the settings in docs/install.md exist and are valid together", () => {
  const [, file = ""] = /<<END\n([\s\S]*?)^END$/m.exec(read("docs/install.md")) ?? [];
  const config = configOf(assignments(file.replace(/\$\(.*\)/, "0123456789abcdef")));
  expect(config).toMatchObject({
    posture: "public",
    backupFolder: "/var/lib/curt/backups",
    metrics: { host: "127.0.0.1", port: 9464 },
  });
  expect(config.trustedProxies).toHaveLength(2);
  for (const [, name = ""] of read("docs/install.md").matchAll(/curt\/?(?: |-)(check|health|serve)\b/g))
    expect(Object.keys(COMMANDS)).toContain(name);
});

test("the settings in docs/go-links.md exist and are valid together", () => {
  const [, file = ""] = /```sh\n([\s\S]*?)```/.exec(read("docs/go-links.md")) ?? [];
  expect(configOf(assignments(file))).toMatchObject({
    posture: "private",
    createUserHeader: "Tailscale-User-Login",
    editors: "everybody",
  });
});

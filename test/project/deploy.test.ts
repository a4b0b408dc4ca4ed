import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { readConfig } from "../../src/config/config.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { ROOT } from "../support/service.ts";

const read = (name: string) => readFileSync(join(ROOT, "deploy", name), "utf8");

/** Checks that the settings exist and are valid together, and that the store is in the one folder that a platform mounts. */
function expectSettings(environment: Readonly<Record<string, string>>): void {
  expect(Object.values(SETTINGS).map(({ name }) => name)).toContainValues(Object.keys(environment));
  // As in the image.
  const config = readConfig({ DATA_DIR: "/data", ...environment });
  expect(config).toMatchObject({ posture: "public", folder: "/data", backupFolder: "/data/backups" });
  expect(config.trustedProxies.length).toBeGreaterThan(0);
}

/** Names of all keys, with those of the objects around them: `http_service.checks.path`. */
function keysOf(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => keysOf(each, path));
  if (typeof value !== "object" || value === null) return [path];
  return Object.entries(value).flatMap(([key, each]) => keysOf(each, path === "" ? key : `${path}.${key}`));
}

/** Platforms ignore a key that they don't know, or refuse the file. */
function expectKeys(value: unknown, known: string): void {
  expect(known.split(/\s+/)).toContainValues(keysOf(value));
}

test("each template has a test", () => {
  expect(readdirSync(join(ROOT, "deploy")).toSorted()).toEqual([
    "compose.yaml",
    "fly.toml",
    "railway.json",
    "render.yaml",
    "unraid.xml",
  ]);
});

test("Fly mounts the folder, and sends requests to a running machine", () => {
  const fly = Bun.TOML.parse(read("fly.toml")) as {
    env: Record<string, string>;
    mounts: { destination: string }[];
    http_service: { internal_port: number };
  };
  const { env, ...rest } = fly;
  expectSettings(env);
  // github.com/superfly/flyctl, internal/appconfig/config.go and service.go
  expectKeys(
    rest,
    `build.image mounts.source mounts.destination mounts.initial_size http_service.internal_port http_service.force_https
     http_service.auto_stop_machines http_service.min_machines_running http_service.checks.path http_service.checks.interval
     http_service.checks.timeout http_service.checks.grace_period vm.memory`,
  );
  expect(fly.mounts.map(({ destination }) => destination)).toEqual(["/data"]);
  expect(fly.http_service.internal_port).toBe(3000);
});

test("Render mounts the folder, and asks for nothing but the address", () => {
  const render = Bun.YAML.parse(read("render.yaml")) as {
    services: [{ envVars: { key: string; value?: string; sync?: boolean }[]; disk: { mountPath: string } }];
  };
  const [service] = render.services;
  // render.com/docs/blueprint-spec
  expectKeys(
    render,
    `services.type services.name services.runtime services.image.url services.plan services.healthCheckPath services.envVars.key
     services.envVars.value services.envVars.sync services.envVars.generateValue services.disk.name services.disk.mountPath
     services.disk.sizeGB`,
  );
  expect(service.envVars.filter(({ sync }) => sync === false).map(({ key }) => key)).toEqual(["BASE_URL"]);
  expect(service.disk.mountPath).toBe("/data");
  const given = "https://go.example.com";
  expectSettings(Object.fromEntries(service.envVars.map(({ key, value = given }) => [key, value])));
});

test("Railway builds the image, and requires the folder", () => {
  const railway = JSON.parse(read("railway.json")) as {
    build: { dockerfilePath: string };
    deploy: { requiredMountPath: string };
  };
  // docs.railway.com/config-as-code/reference and railway.com/railway.schema.json
  expectKeys(
    railway,
    `$schema build.builder build.dockerfilePath deploy.requiredMountPath deploy.healthcheckPath deploy.restartPolicyType
     deploy.drainingSeconds`,
  );
  expect(existsSync(join(ROOT, railway.build.dockerfilePath))).toBe(true);
  // Railway refuses to build a file with this line.
  expect(readFileSync(join(ROOT, "Containerfile"), "utf8")).not.toMatch(/^VOLUME/m);
  expect(railway.deploy.requiredMountPath).toBe("/data");
  const [, settings = ""] =
    /^- \*\*Railway:\*\*([\s\S]+?)^- /m.exec(readFileSync(join(ROOT, "docs/install.md"), "utf8")) ?? [];
  const variables = [...settings.matchAll(/`([A-Z_]+)=(\S+)`/g)].map(([, name = "", value = ""]) => [
    name,
    value.replace("${{RAILWAY_PUBLIC_DOMAIN}}", "go.example.com"),
  ]);
  expectSettings(Object.fromEntries(variables) as Record<string, string>);
});

test("Unraid mounts the folder, and has a setting for the address", () => {
  const xml = read("unraid.xml");
  const container = new Map(
    [...xml.matchAll(/^ {2}<(\w+)>([^<]*)<\/\1>$/gm)].map(([, name, text]) => [name, text]),
  );
  const configs = [...xml.matchAll(/^ {2}<Config ([^<>]+)\/>$/gm)].map(
    ([, attributes = ""]) =>
      Object.fromEntries(
        [...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, text]) => [name, text]),
      ) as Record<string, string>,
  );
  // forums.unraid.net/topic/38619-docker-template-xml-schema
  expectKeys(
    [Object.fromEntries(container), ...configs],
    `Name Repository Registry Network Privileged Support Project Overview Category WebUI Icon ExtraParams
     Target Default Mode Description Type Display Required Mask`,
  );
  // Nothing else is in the file.
  expect(xml.split("\n").length - 5).toBe(container.size + configs.length);
  const of = (type: string) => configs.filter(({ Type }) => Type === type);
  expect(of("Path").map(({ Target }) => Target)).toEqual(["/data"]);
  expect(container.get("WebUI")).toBe(`http://[IP]:[PORT:${of("Port")[0]?.["Target"]}]/`);
  expectSettings(
    Object.fromEntries(of("Variable").map(({ Target = "", Default = "" }) => [Target, Default])),
  );
});

test("the Compose file mounts the folder, and CasaOS finds its page", () => {
  const compose = Bun.YAML.parse(read("compose.yaml")) as {
    services: { curt: { environment: Record<string, string>; ports: [string]; volumes: [string] } };
    "x-casaos": { main: string; port_map: string; category: string; id: string };
  };
  const { environment, ...curt } = compose.services.curt;
  const casaos = compose["x-casaos"];
  // github.com/compose-spec/compose-spec, schema/compose-spec.json
  expectKeys(curt, "image ports volumes read_only security_opt stop_grace_period restart");
  // github.com/IceWhaleTech/CasaOS-AppStore, docs/specs/compose-and-x-casaos.md
  expectKeys(
    casaos,
    "id main index port_map icon title.en_US tagline.en_US description.en_US category architectures",
  );
  expect(casaos.id).toMatch(/^[a-z0-9_-]+(?:\.[a-z0-9_-]+)+$/);
  expect(casaos).toMatchObject({
    main: "curt",
    port_map: curt.ports[0].split(":")[0],
    category: "Networking",
  });
  expect(curt.ports[0]).toEndWith(":3000");
  expect(curt.volumes).toEqual(["links:/data"]);
  const address = environment["BASE_URL"]?.replace(/^\$\{BASE_URL:-(.+)\}$/, "$1") ?? "";
  expectSettings({ ...environment, BASE_URL: address });
});

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import packageJson from "../../package.json";
import { readCommandLine, generalHelp } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { INSTANCE_COMMANDS } from "../../src/cli/instance-commands.ts";
import { readConfig } from "../../src/config/config.ts";
import { SETTINGS } from "../../src/config/settings.ts";
import { languageName, LANGUAGES } from "../../src/locales/messages.ts";
import { type Running, ROOT, startHere, temporaryFolder } from "../service.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const markdownIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file));
const DOCUMENTS = [".", "client", "docs", "docs/decisions", "bench"]
  .filter((folder) => existsSync(join(ROOT, folder)))
  .flatMap(markdownIn);

/** Returns the cells of all rows of the table with this header. */
function table(path: string, ...header: string[]): string[][] {
  const lines = read(path)
    .split("\n")
    .map((line) => (line.match(/^\| (.+) \|$/)?.[1] ?? "").split(" | ").map((cell) => cell.trim()));
  const start = lines.findIndex((cells) => cells.join() === header.join());
  expect(start).toBeGreaterThan(0);
  const rest = lines.slice(start + 2);
  return rest.slice(
    0,
    rest.findIndex((cells) => cells.length === 1),
  );
}
const bare = (cell = "") => cell.replaceAll("`", "");

let curt: Running;
beforeAll(async () => {
  curt = await startHere();
});
afterAll(() => curt[Symbol.asyncDispose]());

describe("the README", () => {
  test("lists every setting with its default and meaning, and no other", () => {
    const rows = table("README.md", "Name", "Default", "Meaning");
    expect(rows.map((row) => row.map(bare))).toEqual(
      Object.values(SETTINGS).map((setting) => [setting.name, setting.default, setting.meaning]),
    );
  });

  test("lists every command of the program, and npm scripts that exist", () => {
    const help = generalHelp(COMMANDS);
    const commands = [...help.slice(0, help.indexOf("Options:")).matchAll(/^ {2}(\w+) /gm)].map(
      ([, name]) => name,
    );
    expect([...new Set(commands)]).toEqual([
      "serve",
      "check",
      "backup",
      "restore",
      "export",
      "import",
      "shorten",
      "info",
      "edit",
      "withdraw",
      "stats",
      "health",
      "mcp",
      "completion",
    ]);
    for (const command of commands) expect(read("README.md")).toContain(`curt ${command}`);
    const scripts = [...read("README.md").matchAll(/npm (?:run )?(start|test|\w+)\b/g)]
      .map(([, name = ""]) => name)
      .filter((name) => !["ci", "run", "and"].includes(name) && !/^\d/.test(name));
    for (const script of scripts) expect(Object.keys(packageJson.scripts)).toContain(script);
  });

  test("gives commands that do what it says", async () => {
    const [, create = "", follow = ""] =
      /```sh\n(curl -X POST[\s\S]+?)\n\n(curl -i .+)\n```/.exec(read("README.md")) ?? [];
    const [, path = ""] = /localhost:3000(\S+)/.exec(create) ?? [];
    const [, name = "", value = ""] = /-H '([^:]+): ([^']+)'/.exec(create) ?? [];
    const [, body = ""] = /-d '([^']+)'/.exec(create) ?? [];
    const made = await curt.fetch(path, { method: "POST", headers: { [name]: value }, body });
    expect(made.status).toBe(201);
    const followed = await curt.fetch(/localhost:3000(\S+)/.exec(follow)?.[1] ?? "");
    expect([followed.status, followed.headers.get("location")]).toEqual([
      302,
      "https://example.com/a/long/address",
    ]);
  });

  test("gives the test commands, of which CI runs the one with everything", () => {
    expect(read("README.md")).toContain("npm ci && npm test\nnpm run test:all\n");
    expect(read(".ci/run")).toMatch(/^npm ci && npm run test:all$/m);
  });
});

describe("docs/api.md", () => {
  test("has every status of the OpenAPI document, and every documented path answers", async () => {
    const document = (await (await curt.fetch("/api/v1/openapi.json")).json()) as {
      paths: Record<string, Partial<Record<"get" | "post", { responses: object }>>>;
    };
    const documented = table("docs/api.md", "Status", "When").map(([status]) => status);
    const { post } = document.paths["/api/v1/shorten"] ?? {};
    const statuses = Object.keys(post?.responses ?? {}).filter((status) => status !== "default");
    for (const status of statuses) expect(documented).toContain(status);
    await curt.shorten({ original_url: "https://example.com/", custom_code: "made" });
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const method of Object.keys(methods))
        expect(read("docs/api.md")).toContain(`${method.toUpperCase()} ${path}`);
      const { get } = methods;
      if (get === undefined) continue;
      const [status] = Object.keys(get.responses);
      const answer = await curt.fetch(path.replace("{code}", "made"));
      expect([path, answer.status]).toEqual([path, Number(status)]);
    }
  });

  test("has every part of a link, of its statistics and of an availability, and every parameter", async () => {
    const document = (await (await curt.fetch("/api/v1/openapi.json")).json()) as {
      paths: Record<string, { get?: { parameters?: { name: string }[] } }>;
      components: { schemas: Record<string, { properties: object }> };
    };
    const { Availability, Link, Statistics } = document.components.schemas;
    const parameters = document.paths["/api/v1/links/{code}/stats"]?.get?.parameters ?? [];
    const names = [Availability, Link, Statistics].flatMap((schema) => Object.keys(schema?.properties ?? {}));
    const text = read("docs/api.md");
    for (const name of names)
      expect([name, text.includes(`"${name}"`) || text.includes(`\`${name}\``)]).toEqual([name, true]);
    expect(parameters.map(({ name }) => name)).toEqual([
      "code",
      "from",
      "to",
      "interval",
      "tz",
      "format",
      "download",
    ]);
    for (const { name } of parameters.slice(1)) expect(text).toContain(`\`${name}\``);
    const image = document.paths["/{code}.svg"]?.get?.parameters?.slice(1) ?? [];
    expect(image.map(({ name }) => name)).toEqual(["size", "margin", "dark", "light", "ecc"]);
    for (const { name } of image) expect(text).toContain(`\n| \`${name}\` `);
  });

  test("shows answers as they are, in the contract's envelope", async () => {
    await using fresh = await startHere();
    const sent = { original_url: "https://example.com/a/long/address", custom_code: "한글" };
    const answers = [
      await fresh.shorten(sent),
      await fresh.fetch("/api/v1/links/batch", {
        method: "POST",
        body: JSON.stringify([{ original_url: sent.original_url }, sent]),
      }),
      await fresh.fetch("/api/v1/codes/한글"),
      await fresh.fetch("/api/v1/links/한글"),
      await fresh.fetch("/api/v1/links/한글/stats"),
      await fresh.fetch("/api/v1/links/한글/reports", {
        method: "POST",
        body: JSON.stringify({ reason: "phishing" }),
      }),
    ];
    const shown = [...read("docs/api.md").matchAll(/```json\n([\s\S]*?)```/g)];
    expect(shown).toHaveLength(answers.length);
    for (const [nth, answer] of answers.entries()) {
      const real = (await answer.json()) as { data: object };
      const told = JSON.parse(shown[nth]?.[1] ?? "") as { data: object };
      expect(Object.keys(told)).toEqual(Object.keys(real));
      expect(Object.keys(real.data).slice(0, Object.keys(told.data).length)).toEqual(Object.keys(told.data));
      if (!("results" in real.data) || !("results" in told.data)) continue;
      const [toldOfMany, realOfMany] = [told.data, real.data].map(({ results }) =>
        (results as object[]).map((result) => Object.keys(result)),
      );
      expect(toldOfMany).toEqual(realOfMany);
    }
  });

  test("names the reference, which answers, and the languages of the OpenAPI document", async () => {
    for (const path of ["README.md", "docs/api.md"]) expect(read(path)).toContain("`/docs`");
    expect((await curt.fetch("/docs")).headers.get("content-type")).toStartWith("text/html");
    for (const language of LANGUAGES) {
      const headers = { "Accept-Language": language };
      const { headers: answered } = await curt.fetch("/api/v1/openapi.json", { headers });
      for (const path of ["README.md", "docs/api.md"])
        expect(read(path)).toContain(languageName(language, "en"));
      expect(answered.get("content-language")).toBe(language);
    }
  });

  test("names the addresses of health, which answer", async () => {
    for (const path of ["/livez", "/readyz"]) {
      expect(read("docs/api.md")).toContain(`GET ${path}`);
      expect((await curt.fetch(path)).status).toBe(200);
    }
  });

  test("names the reserved codes, each of which is refused", async () => {
    const [, list = ""] = /Reserved, in upper and lower case: ([^.]+)\./.exec(read("docs/api.md")) ?? [];
    const codes = [...list.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code);
    expect(codes).toHaveLength(6);
    for (const custom_code of codes) {
      expect((await curt.shorten({ original_url: "https://example.com/", custom_code })).status).toBe(400);
    }
  });
});

describe("docs/clients.md", () => {
  test("lists the variables of the commands that ask an instance, and gives options that exist", () => {
    const { variables = {} } = INSTANCE_COMMANDS["edit"] ?? {};
    const rows = table("docs/clients.md", "Variable", "Default", "Meaning");
    expect(rows.map(([name]) => bare(name))).toEqual(Object.keys(variables));
    for (const [, line = ""] of read("docs/clients.md").matchAll(/^curt ([^|>#<\n]+)/gm))
      expect(readCommandLine(COMMANDS, line.trim().split(" "))).toHaveProperty("command");
    for (const [, shell = ""] of read("docs/clients.md").matchAll(/curt completion (\w+)/g))
      expect(Object.keys(COMMANDS)).toContain(`completion ${shell}`);
  });
});

describe("client/README.md", () => {
  test("gives a program that compiles and does what it says", async () => {
    await using fresh = await startHere();
    const programs = [...read("client/README.md").matchAll(/```ts\n([\s\S]+?)```/g)];
    const program = programs.map(([, text = ""]) => text).join("");
    using folder = temporaryFolder();
    const source = program
      .replace('"@curt/client"', JSON.stringify(join(ROOT, "client/client.ts")))
      .replace("https://go.example.com", fresh.origin);
    const path = join(folder.path, "program.ts");
    await Bun.write(path, `${source}\nconsole.log(short_url, visits, countries.other);\nexport {};\n`);
    const child = Bun.spawn([process.execPath, path], { stdout: "pipe", stderr: "inherit" });
    expect(await child.stdout.text()).toMatch(
      /^(https:\/\/curt\.example\/\w{7}\/\n){2}https:\/\/curt\.example\/\w{7}\/ 0 0\n$/,
    );
    expect(await child.exited).toBe(0);
  });
});

describe("the example of two instances", () => {
  test("has settings that are right, and the same for both", () => {
    const { services } = Bun.YAML.parse(read("examples/two-instances.compose.yaml")) as {
      services: Record<string, { environment?: Record<string, string | null> }>;
    };
    const { curt1, curt2 } = services;
    expect(curt2?.environment).toEqual(curt1?.environment ?? {});
    const given = Object.entries(curt1?.environment ?? {});
    const names = Object.values(SETTINGS).map(({ name }) => name);
    expect(names).toContainValues(given.map(([name]) => name));
    // Compose's ${NAME:-default}.
    const environment = given.flatMap(([name, value]) =>
      value === null ? [] : [[name, value.replace(/\$\{\w+:-(.*)\}/, "$1")]],
    );
    const config = readConfig(Object.fromEntries(environment) as Record<string, string>);
    expect(config).toMatchObject({ baseUrl: "https://localhost", database: { engine: "postgres" } });
  });
});

/** What follows `#` in links to the headings of a document, as GitHub makes it. */
function headings(path: string): string[] {
  const text = read(path).replace(/```[\s\S]*?```/g, "");
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("every document", () => {
  test("only has links that work, to headings that are there", () => {
    for (const path of DOCUMENTS) {
      for (const [, file = "", heading = ""] of read(path).matchAll(/\]\(([^)#:]*)(?:#([^)]+))?\)/g)) {
        const target = file === "" ? path : join(dirname(path), file);
        const isThere = existsSync(join(ROOT, target));
        const isFine = isThere && (heading === "" || headings(target).includes(heading));
        expect([path, file, heading, isFine]).toEqual([path, file, heading, true]);
      }
    }
  });

  test("has its changes under the version that runs", () => {
    expect(read("CHANGELOG.md")).toContain(`## ${packageJson.version}\n`);
  });
});

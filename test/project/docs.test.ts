import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import packageJson from "../../package.json";
import { writeBounds, writeOpenApi } from "../../scripts/reference.ts";
import { generalHelp } from "../../src/cli/command.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { SHELLS } from "../../src/cli/completion.ts";
import { INSTANCE_COMMANDS } from "../../src/cli/instance-commands.ts";
import { readConfig } from "../../src/config/config.ts";
import { SETTING_GROUPS, SETTINGS } from "../../src/config/settings.ts";
import { languageName, LANGUAGES } from "../../src/locales/messages.ts";
import { readCurl } from "../http/samples.ts";
import { ROOT, shareService, startService, temporaryFolder } from "../support/service.ts";

const read = (path: string) => readFileSync(join(ROOT, path), "utf8");
const markdownIn = (folder: string) =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(folder, file));
const DOCUMENTS = [".", "client", "docs", "docs/decisions", "docs/dev", "bench"]
  .filter((folder) => existsSync(join(ROOT, folder)))
  .flatMap(markdownIn);

/** Returns the cells of all rows of the tables with this header. */
function table(path: string, ...header: string[]): string[][] {
  const lines = read(path)
    .split("\n")
    .map((line) => (line.match(/^\| (.+) \|$/)?.[1] ?? "").split(" | ").map((cell) => cell.trim()));
  const starts = lines.flatMap((cells, nth) => (cells.join() === header.join() ? [nth + 2] : []));
  expect(starts).not.toEqual([]);
  return starts.flatMap((start) => {
    const rest = lines.slice(start);
    return rest.slice(
      0,
      rest.findIndex((cells) => cells.length === 1),
    );
  });
}
const bare = (cell = "") => cell.replaceAll("`", "");

const curt = shareService();

describe("docs/settings.md", () => {
  test("lists every setting with its default and meaning, in the groups of the help", () => {
    const groups = [...read("docs/settings.md").matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(groups).toEqual(Object.keys(SETTING_GROUPS));
    const rows = table("docs/settings.md", "Name", "Default", "Meaning").map((row) => row.map(bare));
    const settings = Object.values(SETTING_GROUPS).flatMap((group) => Object.values(group));
    expect(rows).toEqual(settings.map((setting) => [setting.name, setting.default, setting.meaning]));
    expect(settings).toEqual(Object.values(SETTINGS));
  });
});

describe("docs/cli.md", () => {
  test("lists every command of the program, and no other", () => {
    const help = generalHelp(COMMANDS);
    const commands = [...help.slice(0, help.indexOf("Options:")).matchAll(/^ {2}([\w-]+) /gm)].map(
      ([, name = ""]) => name,
    );
    const rows = table("docs/cli.md", "Command", "What it does");
    const listed = rows.map(([command]) => bare(command).split(" ")[1] ?? "");
    expect(new Set(listed)).toEqual(new Set(commands));
  });
});

describe("CONTRIBUTING.md", () => {
  test("lists npm scripts that exist", () => {
    const scripts = [...read("CONTRIBUTING.md").matchAll(/npm run ([\w:-]+)|npm (test)\b/g)];
    expect(scripts.length).toBeGreaterThan(10);
    for (const [, script = "test"] of scripts) expect(Object.keys(packageJson.scripts)).toContain(script);
  });

  test("gives the test commands, and CI runs the complete one", () => {
    expect(read("CONTRIBUTING.md")).toContain("npm ci && npm test\nnpm run test:all\n");
    expect(read(".ci/run")).toMatch(/^npm ci$[^]+ npm run test:all$/m);
  });
});

describe("README.md", () => {
  test("gives commands that create and follow a link", async () => {
    const [, create = "", follow = ""] =
      /```sh\n(curl -X POST[\s\S]+?)\n\n(curl -i .+)\n```/.exec(read("README.md")) ?? [];
    const [, path = ""] = /localhost:3000(\S+)/.exec(create) ?? [];
    const [, name = "", value = ""] = /-H '([^:]+): ([^']+)'/.exec(create) ?? [];
    const [, body = ""] = /-d '([^']+)'/.exec(create) ?? [];
    const created = await curt.fetch(path, { method: "POST", headers: { [name]: value }, body });
    expect(created.status).toBe(201);
    const followed = await curt.fetch(/localhost:3000(\S+)/.exec(follow)?.[1] ?? "");
    expect([followed.status, followed.headers.get("location")]).toEqual([
      302,
      "https://example.com/a/long/address",
    ]);
  });
});

test("docs/bounds.md lists the bounds of the code", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "bounds.md");
  await writeBounds(path);
  // If this fails, run `npm run reference`.
  expect(read("docs/bounds.md")).toBe(readFileSync(path, "utf8"));
});

describe("docs/openapi.json", () => {
  test("is the OpenAPI document of the code", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "openapi.json");
    await writeOpenApi(path);
    // If this fails, run `npm run reference`.
    expect(read("docs/openapi.json")).toBe(readFileSync(path, "utf8"));
  });

  test("has the operations of a running service, where each GET responds as documented", async () => {
    interface Described {
      readonly paths: Record<string, Partial<Record<"get" | "post", { responses: object }>>>;
    }
    const { paths } = JSON.parse(read("docs/openapi.json")) as Described;
    const served = (await (await curt.fetch("/api/v1/openapi.json")).json()) as Described;
    expect(Object.keys(served.paths)).toEqual(Object.keys(paths));
    await curt.shorten({ original_url: "https://example.com/", custom_code: "exists" });
    for (const [path, { get }] of Object.entries(paths)) {
      if (get === undefined) continue;
      const [status] = Object.keys(get.responses);
      const answer = await curt.fetch(path.replace("{code}", "exists"));
      expect([path, answer.status]).toEqual([path, Number(status)]);
    }
  });
});

describe("docs/api.md", () => {
  test("has at most 1,500 words", () => {
    expect(read("docs/api.md").split(/\s+/).length).toBeLessThanOrEqual(1500);
  });

  test("lists the headers that scripts of other origins can read", async () => {
    const [, list = ""] =
      /of every origin may call [^.]*? and read ([^.]+)\./.exec(read("docs/api.md")) ?? [];
    const exposed = (await curt.fetch("/api/v1")).headers.get("access-control-expose-headers");
    expect([...list.matchAll(/`([\w-]+)`/g)].map(([, name]) => name).join()).toBe(exposed ?? "");
  });

  test("shows requests with the responses that they get", async () => {
    await using fresh = await startService();
    let key = "";
    let etag = "";
    const shown = [...read("docs/api.md").matchAll(/```sh\n(curl [\s\S]*?)```\s+```json\n([\s\S]*?)```/g)];
    expect(shown).toHaveLength(5);
    for (const [, call = "", answer = ""] of shown) {
      const { url, method, headers, body } = readCurl(call);
      if (headers["Authorization"] !== undefined) headers["Authorization"] = `Bearer ${key}`;
      if (headers["If-Match"] !== undefined) headers["If-Match"] = etag;
      const init = {
        method: body !== undefined && method === "GET" ? "POST" : method,
        headers,
        ...(body !== undefined && { body }),
      };
      const response = await fresh.fetch(url.replace("https://curt.example", ""), init);
      const real = (await response.json()) as {
        message: string;
        data: Record<string, unknown> & { manage_key?: string };
      };
      const documented = JSON.parse(answer) as typeof real;
      expect([documented.message, Object.keys(documented)]).toEqual([real.message, Object.keys(real)]);
      key = real.data.manage_key ?? key;
      etag = response.headers.get("etag") ?? "";
      const namesIn = ({ data }: typeof real) =>
        [data["results"] ?? data].flat().map((one) => Object.keys(one));
      for (const [nth, names] of namesIn(documented).entries())
        expect(namesIn(real)[nth]).toEqual(expect.arrayContaining(names));
    }
  });

  test("names the reference page and the languages of the OpenAPI document", async () => {
    for (const path of ["README.md", "docs/api.md"]) expect(read(path)).toContain("`/docs`");
    expect((await curt.fetch("/docs")).headers.get("content-type")).toStartWith("text/html");
    for (const language of LANGUAGES) {
      const headers = { "Accept-Language": language };
      const { headers: received } = await curt.fetch("/api/v1/openapi.json", { headers });
      for (const path of ["README.md", "docs/api.md"])
        expect(read(path)).toContain(languageName(language, "en"));
      expect(received.get("content-language")).toBe(language);
    }
  });
});

describe("docs/links.md", () => {
  test("lists the reserved codes, which creates refuse", async () => {
    const [, list = ""] = /Reserved, in upper and lower case: ([^.]+)\./.exec(read("docs/links.md")) ?? [];
    const codes = [...list.matchAll(/`(\w+)`/g)].map(([, code = ""]) => code);
    expect(codes).toHaveLength(6);
    for (const custom_code of codes) {
      expect((await curt.shorten({ original_url: "https://example.com/", custom_code })).status).toBe(400);
    }
  });
});

describe("docs/clients.md", () => {
  test("lists the variables of instance commands, and only existing shells", () => {
    const variables = Object.assign(
      {},
      ...["shorten", "edit"].map((name) => INSTANCE_COMMANDS[name]?.variables),
    );
    const rows = table("docs/clients.md", "Variable", "Default", "Meaning");
    expect(rows.map(([name]) => bare(name)).toSorted()).toEqual(Object.keys(variables).toSorted());
    for (const [, shell] of read("docs/clients.md").matchAll(/curt completion (\w+)/g))
      expect(SHELLS as readonly (string | undefined)[]).toContain(shell);
  });
});

describe("client/README.md", () => {
  test("gives a program that compiles and creates links", async () => {
    await using fresh = await startService();
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
  test("has valid settings, equal for both", () => {
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

/** The anchors of a document's headings, as GitHub creates them. */
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
  test("has only working links, to existing headings", () => {
    for (const path of DOCUMENTS) {
      for (const [, file = "", heading = ""] of read(path).matchAll(/\]\(([^)#:]*)(?:#([^)]+))?\)/g)) {
        const target = file === "" ? path : join(dirname(path), file);
        const isThere = existsSync(join(ROOT, target));
        const isFine = isThere && (heading === "" || headings(target).includes(heading));
        expect([path, file, heading, isFine]).toEqual([path, file, heading, true]);
      }
    }
  });
});

import { beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import jsQR from "jsqr";

import { runWithRoom } from "../backup/interruptions.ts";
import { PROGRAM, ROOT, shareService, startService, temporaryFolder } from "../support/service.ts";
import { modulesOf, run, runAlone, runInTerminal } from "./run.ts";

const curt = shareService();
let environment: { CURT_URL: string };
beforeAll(() => void (environment = { CURT_URL: curt.origin }));

async function targetOf(address: string): Promise<string | null> {
  const { pathname } = new URL(address);
  return (await curt.fetch(pathname)).headers.get("location");
}

describe("curt shorten in a pipe", () => {
  test("prints the address only", async () => {
    const { code, stdout, stderr } = await run(["shorten", "https://example.com/a"], environment);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^https:\/\/curt\.example\/\w{7}\/\n$/);
    expect(await targetOf(stdout.trim())).toBe("https://example.com/a");
  });

  test("shortens each line, in order, and fails if one fails", async () => {
    const lines =
      "https://example.com/1\n\n  https://example.com/2 \r\nftp://example.com/\nhttps://example.com/3";
    const { code, stdout, stderr } = await run(["shorten"], environment, lines);
    expect(code).toBe(1);
    const targets = await Promise.all(stdout.trim().split("\n").map(targetOf));
    expect(targets).toEqual(["https://example.com/1", "https://example.com/2", "https://example.com/3"]);
    expect(stderr).toMatch(/^curt: ftp:\/\/example\.com\/: target: .+\n$/);
  });

  test("prints each link while the pipe is open, and waits for the instance's rate limit", async () => {
    await using limited = await startService({ LIMIT_CREATE: "2/1s" });
    const child = Bun.spawn([process.execPath, PROGRAM, "shorten"], {
      env: { ...process.env, CURT_URL: limited.origin },
      stdin: "pipe",
      stdout: "pipe",
    });
    const reader = child.stdout.getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    for (const line of ["https://example.com/1\nhttps://exam", "ple.com/2\n"]) {
      void child.stdin.write(line);
      void child.stdin.flush();
      expect(await read()).toMatch(/^https:\/\/curt\.example\/\w{7}\/\n$/);
    }
    void child.stdin.write("https://example.com/\n".repeat(5));
    void child.stdin.end();
    let rest = "";
    for (let text = await read(); text !== ""; text = await read()) rest += text;
    expect(rest.trim().split("\n")).toHaveLength(5);
    expect(await child.exited).toBe(0);
  });

  test("refuses an endless line without buffering it, and continues with the next one", async () => {
    const input = `https://example.com/${"a".repeat(3_000_000)}\nhttps://example.com/\n`;
    const { code, stdout, stderr } = await run(["shorten"], environment, input);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^curt: https:\/\/example\.com\/a+: target: .+\n$/);
    expect(stderr.length).toBeLessThan(1000);
    expect(await targetOf(stdout.trim())).toBe("https://example.com/");
  });

  test("accepts a code and an end, and prints JSON", async () => {
    const args = ["shorten", "https://example.com/", "--code", "한글", "--expires-at", "24h", "--json"];
    const { code, stdout } = await run(args, environment);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ code: "한글", short_url: "https://curt.example/한글/" });
  });

  test("accepts never and unlimited", async () => {
    const args = [
      "shorten",
      "https://example.com/",
      "--json",
      "--expires-at=never",
      "--max-visits=unlimited",
    ];
    const { stdout } = await run(args, environment);
    expect(JSON.parse(stdout)).toMatchObject({ expires_at: null, max_visits: null });
  });

  test("doesn't send CURT_KEY to a host that only the address names", async () => {
    const sent: (string | null)[] = [];
    using other = Bun.serve({
      port: 0,
      fetch({ headers }) {
        sent.push(headers.get("authorization"));
        return new Response(null, { status: 404 });
      },
    });
    const address = `http://127.0.0.1:${other.port}/x`;
    for (const [args, given] of [
      [["info", address], { CURT_KEY: "secret" }],
      [["info", address, "--key", "chosen"], { CURT_KEY: "secret" }],
    ] as const)
      await run([...args], { ...given, XDG_STATE_HOME: "/nowhere" });
    expect(sent).toEqual([null, "Bearer chosen"]);
  });

  test("explains its usage, wrong arguments, wrong settings and an unreachable instance", async () => {
    const { stdout } = await run(["shorten", "--help"]);
    expect(stdout).toStartWith("Usage: curt shorten [OPTIONS] [URL…]\n");
    expect(stdout).toContain("\n  CURT_URL ");
    const wrong: [string[], Record<string, string>, string][] = [
      [
        ["shorten", "--code", "a", "https://a.example/", "https://b.example/"],
        environment,
        "--code is for one",
      ],
      [["edit", "a"], environment, "edit needs at least one change"],
      [["edit", "a", "--password", "--no-password"], environment, "exclude each other"],
      [["withdraw", "a"], { ...environment, XDG_STATE_HOME: "/nowhere" }, "no manage key for a in /nowhere"],
      [["shorten", "https://a.example/"], { CURT_URL: "go.example.com" }, "CURT_URL must be an address"],
    ];
    for (const [args, given, text] of wrong) {
      const { code, stderr } = await run(args, given);
      expect([code, stderr]).toEqual([2, expect.stringContaining(text)]);
    }
    const away = await run(["shorten", "https://a.example/"], { CURT_URL: "http://127.0.0.1:1" });
    expect([away.code, away.stdout]).toEqual([1, ""]);
    expect(away.stderr).toBe(
      "curt: http://127.0.0.1:1/api/v1/links/batch cannot be reached (set CURT_URL to your instance)\n",
    );
  });

  test("names the fault of a certificate", async () => {
    const pem = readFileSync(join(ROOT, "test/http/certificates/first.pem"), "utf8");
    using server = Bun.serve({ port: 0, tls: { cert: pem, key: pem }, fetch: () => new Response() });
    const url = `https://localhost:${server.port}`;
    const { code, stderr } = await run(["shorten", "https://a.example/"], { CURT_URL: url });
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be reached \(.*certificate.*; NODE_EXTRA_CA_CERTS names a file/);
  });

  test("loads no module of the server", async () => {
    const loaded = await modulesOf(["shorten", "https://example.com/"], environment);
    expect(loaded).toContain(join(ROOT, "src/cli/shorten.ts"));
    expect(loaded.join("\n")).not.toMatch(
      /src\/(?:core|service|views)\.ts|src\/store\/|node_modules\/(?:hono|zod)/,
    );
  });

  test("reports a response that isn't Curt's, and stops reading an endless one", async () => {
    const success = (data: unknown) => JSON.stringify({ status: "success", message: "", data });
    let body: string | ReadableStream = "";
    let sent = 0;
    using other = Bun.serve({ port: 0, fetch: () => new Response(body) });
    const endless = new ReadableStream({
      pull(controller) {
        sent++;
        controller.enqueue(new Uint8Array(1024 * 1024).fill(32));
      },
    });
    const odd = { status_code: 201, message: "", data: { short_url: 7 } };
    const results = [7, [null], [{}], [odd], []].map((wrong) => success({ results: wrong }));
    for (body of ["<html>", "7", success(undefined), ...results, endless]) {
      const { code, stdout, stderr } = await run(["shorten", "a"], { CURT_URL: other.url.href });
      expect([code, stdout, stderr]).toEqual([
        1,
        "",
        `curt: POST ${other.url.href}api/v1/links/batch: 200, which is no answer of Curt. Is the address right? (instance: ${other.url.href})\n`,
      ]);
    }
    expect(sent).toBeLessThan(100);
  });

  test("prints no control character of a response", async () => {
    const evil = "\u001b]0;owned\u0007\u009b2J";
    const data = { short_url: `https://curt.example/${evil}`, code: evil };
    const errors = [{ field: null, reason: evil, message: evil }];
    const results = [
      { status_code: 201, status: "success", message: "", data },
      { status_code: 400, status: "error", message: evil, errors },
    ];
    const response = { status: "success", message: evil, data: { results } };
    using hostile = Bun.serve({ port: 0, fetch: () => Response.json(response) });
    const { stdout, stderr } = await run(["shorten", "a", "b"], { CURT_URL: hostile.url.href });
    expect(stdout).toContain("owned");
    expect(stderr).toContain("owned");
    expect((stdout + stderr).replaceAll("\n", "")).not.toMatch(/\p{Cc}/u);
  });
});

/** Draws the half blocks of a terminal as pixels, and reads the QR code in them. */
function readQr(shown: string): string | undefined {
  const lines = [...shown.matchAll(/38;5;16;48;5;231m([▀▄█ ]+)/g)].map(([, line = ""]) => line.split(""));
  const width = lines[0]?.length ?? 0;
  const scale = 4;
  const pixels = new Uint8ClampedArray(width * scale * lines.length * 2 * scale * 4).fill(255);
  const darken = (x: number, y: number) => {
    for (let at = 0; at < scale * scale; at++) {
      const [px, py] = [x * scale + (at % scale), y * scale + Math.floor(at / scale)];
      pixels.fill(0, (py * width * scale + px) * 4, (py * width * scale + px) * 4 + 3);
    }
  };
  for (const [row, line] of lines.entries())
    for (const [x, block] of line.entries()) {
      if (block === "█" || block === "▀") darken(x, row * 2);
      if (block === "█" || block === "▄") darken(x, row * 2 + 1);
    }
  return jsQR(pixels, width * scale, lines.length * 2 * scale)?.data;
}

describe("curt shorten --keep-key", () => {
  test("stores keys in a file that info, edit and withdraw use", async () => {
    using folder = temporaryFolder();
    const keys = join(folder.path, "curt", "keys");
    const given = { ...environment, XDG_STATE_HOME: folder.path, CURT_PASSWORD: "correct horse" };
    const target = "https://example.com/kept";
    await run(["shorten", target, "--code", "유지", "--keep-key", "--password"], given);
    await run(["shorten", target, "--code", "other", "--keep-key"], given);
    const address = "https://curt.example/%EC%9C%A0%EC%A7%80/";
    expect(readFileSync(keys, "utf8")).toMatch(
      new RegExp(`^${address} [\\w-]{22}\nhttps://curt.example/other/ [\\w-]{22}\n$`),
    );
    expect(statSync(keys).mode & 0o777).toBe(0o600);

    const known = await run(["info", "curt.example/유지", "--json"], given);
    expect(JSON.parse(known.stdout)).toMatchObject({ target, has_password: true });
    const unknown = await run(["info", address, "--json"], environment);
    expect(JSON.parse(unknown.stdout)).toMatchObject({ target: null });

    const terms = ["--target", `${target}/2`, "--expires-at", "24h", "--max-visits", "5", "--no-password"];
    const edited = await run(["edit", address, ...terms], given);
    expect([edited.code, edited.stderr]).toEqual([0, ""]);
    expect(edited.stdout).toMatch(/^target +https:\/\/example\.com\/kept\/2\n/m);
    expect(edited.stdout).not.toContain("manage_key");
    const endless = ["--expires-at", "never", "--max-visits", "unlimited", "--json"];
    const second = await run(["edit", address, ...endless], given);
    expect(JSON.parse(second.stdout)).toMatchObject({
      expires_at: null,
      max_visits: null,
      has_password: false,
    });

    const { manage_key } = JSON.parse(second.stdout) as { manage_key: string };
    // The keys of curt.example aren't for another host.
    for (const [link, options] of [
      ["유지", []],
      [address, ["--key", "wrong"]],
    ] as const)
      expect((await run(["withdraw", link, ...options], given)).code).not.toBe(0);
    const ended = await run(["withdraw", "유지"], { ...given, CURT_KEY: manage_key });
    expect([ended.code, ended.stdout]).toEqual([0, expect.stringMatching(/^state +withdrawn$/m)]);
    expect((await curt.fetch("/유지")).status).toBe(410);
  });

  test("replaces the stored key of an earlier link with the same code", async () => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "curt"));
    writeFileSync(join(folder.path, "curt", "keys"), `https://curt.example/reused/ ${"x".repeat(22)}\n`);
    const given = { ...environment, XDG_STATE_HOME: folder.path };
    await run(["shorten", "https://example.com/", "--code", "reused", "--keep-key"], given);
    expect(await run(["withdraw", "curt.example/reused"], given)).toMatchObject({ code: 0, stderr: "" });
  });

  test("creates nothing if it can't store the key", async () => {
    using folder = temporaryFolder();
    writeFileSync(join(folder.path, "curt"), "");
    const given = { ...environment, XDG_STATE_HOME: folder.path };
    const refused = await run(["shorten", "https://example.com/", "--code", "lost", "--keep-key"], given);
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).toContain(join(folder.path, "curt", "keys"));
    expect((await curt.fetch("/lost")).status).toBe(404);
  });

  test("fails if only a part of a key fits on the disk, and finds later keys behind that part", async () => {
    using folder = temporaryFolder();
    mkdirSync(join(folder.path, "curt"));
    const keys = join(folder.path, "curt", "keys");
    const before = `${"x".repeat(1000)}\n`;
    writeFileSync(keys, before);
    const given = { ...environment, XDG_STATE_HOME: folder.path };
    const cut = await runWithRoom(1024, ["shorten", "https://example.com/", "--keep-key"], given);
    expect([cut.code, cut.stderr]).toEqual([
      1,
      expect.stringContaining(`the key file ${keys} cannot be used`),
    ]);
    expect(statSync(keys).size).toBe(1024);
    await run(["shorten", "https://example.com/", "--code", "behind", "--keep-key"], given);
    expect(await run(["withdraw", "curt.example/behind"], given)).toMatchObject({ code: 0, stderr: "" });
  });

  test("stores the keys of all links even if the reader of its output ends", async () => {
    using folder = temporaryFolder();
    const given = { ...environment, XDG_STATE_HOME: folder.path };
    const urls = Array.from({ length: 50 }, (_, nth) => `https://example.com/${nth}\n`).join("");
    const program = ["sh", "-c", '"$@" | head -n 1', "sh", process.execPath, PROGRAM];
    const { stdout } = await runAlone(["shorten", "--keep-key"], given, urls, program);
    expect(stdout).toStartWith("https://curt.example/");
    expect(readFileSync(join(folder.path, "curt", "keys"), "utf8").match(/\n/g)).toHaveLength(50);
  });
});

describe("curt shorten in a terminal", () => {
  /** An environment without the desktop of the person who runs the tests. */
  const bare = () => ({ ...environment, PATH: "/nowhere", DISPLAY: "", WAYLAND_DISPLAY: "" });

  test("prints the address, asks the terminal to copy it, and draws its QR code", async () => {
    const args = ["shorten", "https://example.com/", "--code", "qr-한글"];
    const { code, shown } = await runInTerminal(args, bare());
    expect(code).toBe(0);
    expect(shown).toStartWith("https://curt.example/qr-한글/\n");
    const [, copied = ""] = /\]52;c;([\w+/=]+)/.exec(shown) ?? [];
    expect(Buffer.from(copied, "base64").toString()).toBe("https://curt.example/qr-한글/");
    expect(shown).toContain("Copied, if your terminal lets programs copy (OSC 52).");
    expect(shown).toMatch(
      /\nTo change or withdraw the link: https:\/\/curt\.example\/qr-한글\+#key=[\w-]{22}\n/,
    );
    expect(readQr(shown)).toBe(new URL("https://curt.example/qr-한글/").href);
  });

  test("copies with a program of the desktop", async () => {
    using folder = temporaryFolder();
    const program = join(folder.path, "wl-copy");
    writeFileSync(program, `#!/bin/sh\nexec /bin/cat > "${folder.path}/copied"\n`);
    chmodSync(program, 0o755);
    const desktop = { ...bare(), PATH: folder.path, WAYLAND_DISPLAY: "wayland-0" };
    const { shown } = await runInTerminal(["shorten", "https://example.com/"], desktop);
    expect(shown).toContain("Copied with wl-copy.");
    expect(shown).toStartWith(`${readFileSync(join(folder.path, "copied"), "utf8")}\n`);
  });

  test("draws no QR code for several addresses, for JSON or in a narrow terminal", async () => {
    const urls = ["https://example.com/1", "https://example.com/2"];
    const several = await runInTerminal(["shorten", ...urls], bare());
    expect(several.shown).toMatch(/^(https:\/\/curt\.example\/\w{7}\/\n){2}$/);
    const json = await runInTerminal(["shorten", "https://example.com/", "--json"], bare());
    expect(json.shown).toMatch(/^\{.*\}\n$/);
    const narrow = await runInTerminal(["shorten", "https://example.com/"], bare(), { columns: 20 });
    expect(narrow.shown).toContain("The terminal is too narrow");
    expect(readQr(narrow.shown)).toBeUndefined();
  });

  test("reads a password without showing it, and Ctrl+C cancels", async () => {
    const args = ["shorten", "https://example.com/", "--json", "--password"];
    const typed = { after: "Password of the link: ", text: "correct horde\u007f\u007fse\r" };
    const { code, shown } = await runInTerminal(args, { ...bare(), CURT_PASSWORD: "" }, { typed });
    expect(code).toBe(0);
    expect(shown).toStartWith("Password of the link: \n{");
    expect(shown).not.toContain("correct");
    expect(shown).toContain('"has_password":true');
    const cancelled = { ...typed, text: "correct\u0003" };
    expect((await runInTerminal(args, { ...bare(), CURT_PASSWORD: "" }, { typed: cancelled })).code).toBe(2);
  });

  test("needs a URL", async () => {
    const { code, shown } = await runInTerminal(["shorten"], bare());
    expect(code).toBe(2);
    expect(shown).toContain("curt: shorten needs a URL, as an argument or from a pipe");
  });
});

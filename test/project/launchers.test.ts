import { describe, expect, test } from "bun:test";
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { ROOT, shareService, temporaryFolder } from "../support/service.ts";

const CREATE_TOKEN = "a-token-of-curt.sh";
const curt = shareService();
const closed = shareService({ CREATE_TOKEN });

/** The shells on this machine. All have sh. */
const SHELLS = ["sh", "bash", "dash", "zsh", "ksh"].flatMap((shell) => {
  const path = Bun.which(shell);
  return path === null ? [] : [[shell, path] as const];
});

describe.each(SHELLS)("examples/curt.sh in %s", (shell, path) => {
  async function run(call: string, words: readonly string[], settings: Record<string, string> = {}) {
    const script = `. "${join(ROOT, "examples/curt.sh")}"; ${call} "$@"`;
    const child = Bun.spawn([path, "-c", script, shell, ...words], {
      env: { ...process.env, LANG: "C.UTF-8", CURT_URL: curt.origin, CURT_TOKEN: "", ...settings },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, stdout, stderr };
  }

  test("shortens an address, with or without a code", async () => {
    const code = `${shell}-한글`;
    const target = `https://example.com/?a="b"&c='$(d)'`;
    expect(await run("shorten", [target, code])).toEqual({
      code: 0,
      stdout: `https://curt.example/${code}/\n`,
      stderr: "",
    });
    const { headers } = await curt.fetch(`/${encodeURIComponent(code)}`);
    expect(headers.get("location")).toBe(new URL(target).href);
    const generated = await run("shorten", ["https://example.com/"]);
    expect(generated.stdout).toMatch(/^https:\/\/curt\.example\/\w{7}\/\n$/);
  });

  test("sends a token", async () => {
    const settings = { CURT_URL: closed.origin, CURT_TOKEN: CREATE_TOKEN };
    expect(await run("shorten", ["https://example.com/"], settings)).toMatchObject({ code: 0, stderr: "" });
    const refused = await run("shorten", ["https://example.com/"], { CURT_URL: closed.origin });
    expect([refused.code, refused.stdout]).toEqual([1, ""]);
    expect(refused.stderr).not.toBe("");
  });

  test("prints why an address isn't shortened", async () => {
    expect(await run("shorten", ["https://example.com/", "api"])).toEqual({
      code: 1,
      stdout: "",
      stderr: 'custom_code: "api" is reserved for this service. Please choose another.\n',
    });
    expect((await run("shorten", [String.raw`https:\\example.com`])).stderr).toContain("original_url: ");
    const elsewhere = { CURT_URL: `${curt.origin}/nowhere` };
    expect(await run("shorten", ["https://example.com/"], elsewhere)).toMatchObject({ code: 1, stdout: "" });
    const away = { CURT_URL: "http://localhost:1" };
    expect(await run("shorten", ["https://example.com/"], away)).toMatchObject({ code: 7, stdout: "" });
    const empty = await run("shorten", []);
    expect([empty.code === 0, empty.stderr]).toEqual([false, expect.stringContaining("shorten URL [CODE]")]);
  });

  test("opens a short address in the browser, and prints it without one", async () => {
    using folder = temporaryFolder();
    const browser = join(folder.path, "my browser");
    await Bun.write(browser, '#!/bin/sh\nprintf "opened %s\\n" "$@"\n');
    chmodSync(browser, 0o755);
    const opened = await run("to", ["jira", "ABC-1 & 2"], { BROWSER: browser });
    expect(opened).toEqual({
      code: 0,
      stdout: `opened ${curt.origin}/jira/ABC-1%20%26%202\n`,
      stderr: "",
    });
    const tools = ["curl", "sed"].map((tool) => Bun.which(tool) ?? "");
    for (const tool of tools) await Bun.$`ln -s ${tool} ${folder.path}`.quiet();
    const printed = await run("to", ["회의"], { BROWSER: "", PATH: folder.path });
    expect(printed).toMatchObject({ code: 0, stdout: `${curt.origin}/%ED%9A%8C%EC%9D%98\n` });
  });
});

describe("examples/curt.sxcu", () => {
  const uploader = JSON.parse(readFileSync(join(ROOT, "examples/curt.sxcu"), "utf8")) as Record<
    string,
    string
  >;

  /** Sends what ShareX does, and reads the response as it does (CustomUploaderItem.cs). */
  async function shorten(input: string): Promise<{ readonly status: number; readonly text: unknown }> {
    const { RequestMethod: method, RequestURL = "", Data = "", URL: url = "", ErrorMessage = "" } = uploader;
    const { pathname } = new URL(RequestURL);
    const response = await curt.fetch(pathname, {
      method: method ?? "",
      headers: { "Content-Type": "application/json" },
      body: Data.replaceAll("{input}", () => JSON.stringify(input).slice(1, -1)),
    });
    const body: unknown = await response.json();
    const [, path = ""] = /^\{json:([\w.]+)\}$/.exec(response.ok ? url : ErrorMessage) ?? [];
    const text = path
      .split(".")
      .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], body);
    return { status: response.status, text };
  }

  test("makes ShareX shorten addresses, and show why it can't", async () => {
    expect(uploader).toMatchObject({ DestinationType: "URLShortener", Body: "JSON" });
    expect(await shorten('https://example.com/?a="b"')).toEqual({
      status: 201,
      text: expect.stringMatching(/^https:\/\/curt\.example\/\w{7}\/$/),
    });
    expect(await shorten("nothing")).toEqual({
      status: 400,
      text: expect.stringContaining("original_url: "),
    });
  });
});

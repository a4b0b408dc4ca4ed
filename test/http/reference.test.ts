import { beforeAll, describe, expect, test } from "bun:test";

import {
  answerOf,
  type ApiDescription,
  dereference,
  EXPLAINED_ONCE,
  fieldsOf,
  operationsOf,
} from "../../src/api/openapi/description.ts";
import { PROBLEM_REASONS } from "../../src/http/problem-reasons.ts";
import { describe as describeProblem } from "../../src/http/problems.ts";
import en from "../../src/locales/en.json";
import { LANGUAGES, message, type MessageKey } from "../../src/locales/messages.ts";
import { BASE_URL, shareService, startService } from "../support/service.ts";
import { PROBLEMS } from "./problems.ts";
import { decoded, readCurl, samplesIn, textOf } from "./samples.ts";

const curt = shareService();
beforeAll(async () => {
  await curt.shorten({ original_url: "https://example.com/", custom_code: "한글" });
});

const headersFor = (language: string) => ({ headers: { "Accept-Language": language } });
const read = async (language: string) => (await curt.fetch("/docs", headersFor(language))).text();
const document = async (language: string) =>
  (await (await curt.fetch("/api/v1/openapi.json", headersFor(language))).json()) as ApiDescription;

/** The HTML of each operation. The keys are operation ids. */
function sectionsOf(html: string): Record<string, string> {
  return Object.fromEntries(
    [...html.matchAll(/<section id="(\w+)" class="operation part"[\s\S]*?<\/section>/g)].map(
      ([section, id]) => [id, section],
    ),
  );
}

describe("the reference", () => {
  test("has every operation, parameter, field and status of the OpenAPI document in every language", async () => {
    for (const language of LANGUAGES) {
      const api = await document(language);
      const html = await read(language);
      const sections = sectionsOf(html);
      const operations = operationsOf(api);
      expect(operations.map(({ operationId }) => operationId)).toEqual(Object.keys(sections));
      expect(Object.keys(sections)[0]).toBe("shorten");
      for (const operation of operations) {
        const { operationId, method, path, summary, description, parameters = [] } = operation;
        expect(html).toContain(`<a href="#${operationId}">${summary}</a>`);
        const text = textOf(sections[operationId] ?? "");
        const body = operation.requestBody?.content["application/json"]?.schema ?? {};
        const responses = Object.entries(operation.responses);
        const data = dereference(api, answerOf(operation).schema).properties?.["data"] ?? {};
        const fields = [body, data].flatMap((schema) => fieldsOf(dereference(api, schema)));
        const texts = [
          method,
          path,
          summary,
          description,
          ...parameters.flatMap((parameter) => [parameter.name, parameter.description]),
          ...fields.flatMap((field) => [...field.names, field.description]),
          ...responses.flatMap(([status, response]) => [
            `${status}${response.description}`,
            ...Object.entries(response.headers ?? {})
              .filter(([name]) => !EXPLAINED_ONCE.includes(name))
              .map(([name, header]) => `${name}: ${header.description}`),
          ]),
        ];
        expect(texts.length).toBeGreaterThan(4);
        for (const one of texts) expect(text).toContain((one ?? "").replaceAll("`", ""));
        // Redirects have no form: the Content-Security-Policy blocks requests to other origins.
        expect(sections[operationId]?.includes("<form")).toBe(operationId !== "followLink");
      }
      expect(textOf(html)).toContain(BASE_URL);
      for (const header of EXPLAINED_ONCE) expect(textOf(html)).toContain(header);
      for (const reason of PROBLEM_REASONS) expect(html).toContain(`<code>${reason}</code>`);
      expect(html).toContain('<a href="/api/v1/openapi.json">');
    }
  });

  test("states limits, values and defaults of parameters", async () => {
    const { shorten = "", getStatistics = "", getQrCodePng = "" } = sectionsOf(await read("en"));
    const text = textOf(shorten);
    expect(text).toContain("original_urlstring · required · at most 8,192 characters");
    expect(text).toContain("custom_codestring | null · optional · at most 64 characters");
    expect(text).toContain("expire_durationstring | null · optional · One of: 24h, 48h, 1week, 1month");
    expect(textOf(getStatistics)).toContain("One of: hour, day, month");
    expect(textOf(getStatistics)).toContain("Default: day");
    expect(textOf(getQrCodePng)).toContain("sizeinteger · optional · 64–2048");
  });

  test.each(LANGUAGES)("is completely translated, without keys or placeholders (%s)", async (language) => {
    const english = new Set(
      (Object.keys(en) as MessageKey[])
        .filter((key) => message("en", key) !== message(language, key))
        .map((key) => message("en", key))
        // Single lower-case words such as "required" may also be names of fields, and "Link" is a schema.
        .filter((text) => !/^[a-z]+$|^Link$/.test(text)),
    );
    const html = await read(language);
    expect(html).toContain(`<html lang="${language}">`);
    const texts = [...html.matchAll(/>([^<]+)</g), ...html.matchAll(/"([^"]+)"/g)].map(([, text = ""]) =>
      decoded(text),
    );
    expect(texts.filter((text) => english.has(text))).toEqual([]);
    expect(textOf(html)).not.toMatch(/\b(?:docs|api|info)\.[a-z]|undefined/);
    expect(
      textOf(html)
        .match(/\{\w+\}/g)
        ?.filter((one) => one !== "{code}" && one !== "{path}") ?? [],
    ).toEqual([]);
  });

  test("states the limits of this instance", async () => {
    await using limited = await startService({ LIMIT_CREATE: "30/1m,1000/1d", LIMIT_REPORT: "7/90s" });
    const textIn = async (language: string) =>
      textOf(await (await limited.fetch("/docs", headersFor(language))).text());
    const text = await textIn("en");
    expect(text).toContain("Links created, and new destinations30 in 1 minute and 1,000 in 1 day");
    expect(text).toContain("Reports7 in 90 seconds");
    expect(text).toContain("Unknown, free and taken codes, and wrong manage keysno limit");
    expect(await textIn("ko")).toContain("1분에 30회");
  });

  test("lists every reason beside its statuses", async () => {
    const kinds = (await read("en")).matchAll(
      /<dt>([\d, ]+)<\/dt><dd><details><summary>.+?<\/summary><p class="soft reasons">(.*?)<\/p>/g,
    );
    const statusesOf = new Map<string, string>();
    for (const [, statuses = "", reasons = ""] of kinds)
      for (const [, reason = ""] of reasons.matchAll(/<code>(.*?)<\/code>/g))
        statusesOf.set(reason, statuses);
    expect([...statusesOf.keys()].toSorted()).toEqual([...PROBLEM_REASONS].toSorted());
    for (const reason of PROBLEM_REASONS) {
      const { status } = describeProblem(PROBLEMS[reason][0]);
      expect(statusesOf.get(reason), reason).toEqual(expect.stringContaining(String(status)));
    }
  });

  test("may be indexed, is revalidated each time, and needs no unsafe content policy", async () => {
    const response = await curt.fetch("/docs/", headersFor("ko"));
    const { headers } = response;
    expect(response.status).toBe(200);
    expect(headers.get("x-robots-tag")).toBe("all");
    expect(headers.get("cache-control")).toBe("private, no-cache");
    expect(headers.get("content-language")).toBe("ko");
    expect(headers.get("content-security-policy")).not.toContain("unsafe");
    const html = await response.text();
    expect(html).not.toMatch(/<style|\sstyle=|\son\w+=|<script(?![^>]* src="\/)|="javascript:(?! )/i);
    expect(html).toContain('<details class="try card" hidden="">');
    for (const [box] of html.matchAll(/<pre[^>]*>/g)) expect(box).toMatch(/ role="group" aria-label="[^"]+"/);
  });

  test("has example responses with the fields and messages of real ones", async () => {
    for (const [id, path] of [
      ["getLink", "/api/v1/links/한글"],
      ["getStatistics", "/api/v1/links/한글/stats"],
    ] as const) {
      const [, shown = ""] =
        /aria-label="Example response: [^"]*">([\s\S]*?)<\/pre>/.exec(
          sectionsOf(await read("en"))[id] ?? "",
        ) ?? [];
      const example = JSON.parse(textOf(shown)) as Record<string, any>;
      const real = (await (await curt.fetch(path)).json()) as Record<string, any>;
      expect(example["message"]).toBe(real["message"]);
      expect(Object.keys(example["data"]).toSorted()).toEqual(Object.keys(real["data"]).toSorted());
    }
  });
});

describe("the samples of the reference", () => {
  /** The samples of every operation, and the status that they should get. */
  async function samples() {
    const sections = sectionsOf(await read("en"));
    const inOrder = operationsOf(await document("en"));
    // The operation that ends the link comes last, because all others need it.
    const operations = inOrder.toSorted(
      (a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"),
    );
    return operations.map(({ operationId: id, responses }) => {
      const { curl = "", JavaScript: javaScript = "", Python: python = "" } = samplesIn(sections[id] ?? "");
      return { id, status: Number(Object.keys(responses)[0]), curl, javaScript, python };
    });
  }

  /** A service with the link that the samples are about, and its key. */
  async function startWithLink() {
    const service = await startService();
    const created = await service.shorten({ original_url: "https://example.com/", custom_code: "한글" });
    const [, key = ""] = /#key=([\w-]+)/.exec(created.headers.get("link") ?? "") ?? [];
    return { service, key };
  }

  test("for curl get the documented status", async () => {
    const { service, key } = await startWithLink();
    await using _ = service;
    for (const { id, status, curl } of await samples()) {
      const { url, method, headers, body } = readCurl(curl.replace("YOUR_KEY", key));
      expect(url.startsWith(`${BASE_URL}/`), id).toEqual(true);
      const init = { method, headers, ...(body !== undefined && { body }) };
      const response = await service.fetch(url.slice(BASE_URL.length), init);
      expect(response.status, id).toEqual(status);
    }
  });

  test("for JavaScript run and get the documented status", async () => {
    const { service, key } = await startWithLink();
    await using _ = service;
    for (const { id, status, javaScript } of await samples()) {
      const program = javaScript.replace(BASE_URL, service.origin).replace("YOUR_KEY", key);
      expect(program).toContain(service.origin);
      const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" });
      const output = await new Response(child.stdout).text();
      expect([output.slice(0, 3), await child.exited], id).toEqual([String(status), 0]);
    }
  });

  test("for Python send the same request as those for curl", async () => {
    for (const { curl, python } of await samples()) {
      const { url, method, headers, body } = readCurl(curl);
      const [, address = "", more = ""] =
        /^(?:import json\n)?import urllib\.error\nimport urllib\.request\n\n(?:class Stay\(urllib\.request\.HTTPRedirectHandler\):\n {4}def redirect_request\(self, \*arguments\):\n {8}return None\n\n)?request = urllib\.request\.Request\(\n {4}(".+"),\n([\s\S]*)\)\ntry:\n {4}response = urllib\.request\.(?:urlopen|build_opener\(Stay\)\.open)\(request\)\nexcept urllib\.error\.HTTPError as error:\n {4}response = error\nprint\(response\.status, (?:json\.load\(response\)|len\(response\.read\(\)\)|response\.headers\["Location"\])\)$/.exec(
          python,
        ) ?? [];
      expect(JSON.parse(address)).toBe(url);
      // Python's urllib only accepts ASCII.
      expect(address).toMatch(/^[\x21-\x7e]+$/);
      if (method === "GET") {
        expect(more).toBe("");
        continue;
      }
      const [, verb = "", header = "", data = ""] =
        /^ {4}method="(\w+)",\n {4}headers=(\{.+\}),\n(?: {4}data=json\.dumps\(([\s\S]+)\)\.encode\(\),\n)?$/.exec(
          more,
        ) ?? [];
      expect([verb, JSON.parse(header)]).toEqual([method, headers]);
      expect(data === "").toBe(body === undefined);
      if (body === undefined) continue;
      expect(JSON.parse(data)).toEqual(JSON.parse(body));
      // Python writes these values differently, so a sample with them would not run.
      expect(data).not.toMatch(/: (?:true|false|null)\b/);
    }
  });
});

import { describe, test } from "bun:test";

import { moveIn, refuse } from "./moved.ts";

describe("curt import --from dub", () => {
  test("takes the CSV file", () =>
    moveIn(
      "dub",
      [
        "Short link,Destination URL,Clicks,Created at,Tags",
        '"https://go.example/abc","https://example.com/?a=""b""",12,2024-01-31T12:34:56.789Z,"a,b"',
        "https://go.example/ABC,https://example.com/upper,0,2024-01-31T12:34:56.789Z,",
        "https://go.example/a%20b,javascript:alert(1),0,2024-01-31T12:34:56.789Z,",
        "https://go.example/,https://example.com/root,0,2024-01-31T12:34:56.789Z,",
        "https://go.example/many,https://example.com/many,a lot,2024-01-31T12:34:56.789Z,",
      ].join("\n"),
      {
        links: {
          abc: { leads: "https://example.com/?a=%22b%22", created: "2024-01-31T12:34:56.789Z", visits: 12 },
          ABC: { leads: "https://example.com/upper" },
        },
        left: {
          "its number of visits is no number": ["line 6: https://go.example/many"],
          "code: Spaces are not allowed. Try - or _ instead.": ["line 4: a b"],
          "code: there is none": ["line 5"],
        },
      },
    ));

  test("takes codes and domains of other scripts, which the API has in Punycode", () => {
    const link = (domain: string, key: string) => ({
      shortLink: `https://${domain}/${key}`,
      url: "https://example.com/",
      createdAt: "2024-01-31T12:34:56.789Z",
    });
    const domain = "xn--3e0b707e.example";
    const page = [
      link(domain, "xn--ls8h"),
      link(domain, "xn--6q8b"),
      link(domain, "xn---"),
      link("other.example", "a"),
    ];
    return moveIn("dub", JSON.stringify(page), {
      links: Object.fromEntries(
        ["💩", "한", "xn---"].map((code) => [code, { leads: "https://example.com/" }]),
      ),
      left: { "it is of another domain": ["object 4: https://other.example/a"] },
      options: ["--domain", "한국.example"],
    });
  });

  test("takes pages of the API: expired and disabled links, and one domain of several", async () => {
    const link = (key: string, more: object = {}) => ({
      id: `link_${key}`,
      domain: "go.example",
      key,
      url: "https://example.com/a",
      archived: false,
      expiresAt: null,
      password: null,
      shortLink: `https://go.example/${key}`,
      tags: [{ id: "1", name: "}" }],
      clicks: 3,
      createdAt: "2024-01-31T12:34:56.789Z",
      ...more,
    });
    const pages = [
      [link("abc"), link("over", { expiresAt: "2024-06-01T00:00:00.000Z" })],
      [
        link("off", { disabledAt: "2024-06-01T00:00:00.000Z" }),
        link("secret", { password: "x" }),
        link("other", { shortLink: "https://dub.sh/other" }),
      ],
    ].map((page) => JSON.stringify(page));
    await refuse("dub", pages.join(""), "Choose one with --domain: go.example (4), dub.sh (1).");
    await moveIn("dub", pages.join("\n"), {
      links: {
        abc: { leads: "https://example.com/a", visits: 3 },
        over: { leads: 404, ends: "2024-06-01T00:00:00.000Z", visits: 3 },
        off: { leads: 410, visits: 3 },
      },
      left: {
        "it has a password": ["object 4: https://go.example/secret"],
        "it is of another domain": ["object 5: https://dub.sh/other"],
      },
      options: ["--domain", "go.example"],
    });
    await refuse("dub", pages.join("").replace("go.example/abc", "go.example/x").slice(0, -1), "is cut off");
  });

  test("refuses what is no such file", async () => {
    await refuse(
      "dub",
      "key,url\na,b\n",
      "has no column Short link",
      "Curt reads the CSV file that Dub exports",
    );
    await refuse("dub", '{"error":{"code":"unauthorized"}}', "has no list");
  });
});

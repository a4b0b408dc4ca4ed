/** Of an address, which comes with headers: servers take 16 KiB of them together. */
const MAX_QUERY_CHARS = 12_000;

/** What is typed stays when the language is switched: the home page fills its form from its address. */
export function keepTyped(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-make]");
  if (!form) return;
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[hreflang]"))
    link.addEventListener("click", () => {
      const query = new URLSearchParams({ language: link.hreflang });
      for (const [name, value] of new FormData(form))
        if (typeof value === "string" && value !== "") query.set(name, value);
      const search = query.toString();
      link.search = search.length <= MAX_QUERY_CHARS ? search : `language=${link.hreflang}`;
    });
}

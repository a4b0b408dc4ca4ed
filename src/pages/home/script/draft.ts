/** Servers accept 16 KiB for the address and all headers. This leaves room for the headers. */
const MAX_QUERY_CHARS = 12_000;

/**
 * Keeps the typed text when the language is switched. Adds it to the link's query, which fills the form again. The token and
 * the password are left out: addresses end up in histories and logs.
 */
export function keepTyped(): void {
  const form = document.querySelector<HTMLFormElement>("form[data-make]");
  if (!form) return;
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[hreflang]"))
    link.addEventListener("click", () => {
      const query = new URLSearchParams({ language: link.hreflang });
      for (const [name, value] of new FormData(form))
        if (typeof value === "string" && value !== "" && name !== "token" && name !== "password")
          query.set(name, value);
      const search = query.toString();
      link.search = search.length <= MAX_QUERY_CHARS ? search : `language=${link.hreflang}`;
    });
}

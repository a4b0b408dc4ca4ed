/** The part that is being read lies in this band of the window, below what is left of the one before. */
const READ_AT = "-15% 0px -80% 0px";

/** Marks in the index of a page which of its parts is being read. */
export function markRead(): void {
  const index = document.querySelector(".contents");
  if (index === null) return;
  const links = new Map(
    [...index.querySelectorAll<HTMLAnchorElement>("a[href^='#']")].map((link) => [link.hash.slice(1), link]),
  );
  const inSight = new Set<string>();
  const watch = new IntersectionObserver(
    (changes) => {
      for (const { target, isIntersecting } of changes)
        if (isIntersecting) inSight.add(target.id);
        else inSight.delete(target.id);
      const read = [...links.keys()].find((id) => inSight.has(id));
      for (const [id, link] of links) link.ariaCurrent = id === read ? "true" : null;
      const link = links.get(read ?? "");
      // The index scrolls by itself where it is higher than the window.
      if (link !== undefined) index.scrollTop = link.offsetTop - index.clientHeight / 2;
    },
    { rootMargin: READ_AT },
  );
  for (const id of links.keys()) {
    const part = document.getElementById(id);
    if (part !== null) watch.observe(part);
  }
}

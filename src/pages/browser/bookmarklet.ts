/** It is there to be dragged away; followed here, it would be refused as a script of the page. */
export function keepBookmarklet(): void {
  document.querySelector(".bookmarklet a")?.addEventListener("click", (event) => event.preventDefault());
}

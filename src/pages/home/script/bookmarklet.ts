/** The bookmarklet is for dragging to the bookmarks. Clicking it here does nothing: the CSP would block its script. */
export function keepBookmarklet(): void {
  document.querySelector(".bookmarklet a")?.addEventListener("click", (event) => event.preventDefault());
}

// The picture of the parts in ARCHITECTURE.md, drawn from the imports that test/project/imports.json allows.
import importsByPart from "../test/project/imports.json";

const PARTS = new Map(
  Object.entries(importsByPart).map(([part, list]) => [
    part,
    list.split(" ").filter((name) => name in importsByPart),
  ]),
);

/** The parts that a part reaches through others. */
function reachedFrom(part: string): Set<string> {
  const reached = new Set<string>();
  for (const direct of PARTS.get(part) ?? []) for (const next of PARTS.get(direct) ?? []) reach(next);
  return reached;

  function reach(next: string): void {
    if (reached.has(next)) return;
    reached.add(next);
    PARTS.get(next)?.forEach(reach);
  }
}

/** A Mermaid block. An arrow that others imply is left out, or nobody could see the order. */
export function drawParts(): string {
  const shown = Map.groupBy(PARTS.keys(), (part) => {
    const implied = reachedFrom(part);
    return PARTS.get(part)
      ?.filter((name) => !implied.has(name))
      .join(" & ");
  });
  const arrows = [...shown].flatMap(([to, from]) => (to ? [`  ${from.join(" & ")} --> ${to}`] : []));
  return ["```mermaid", "flowchart TD", ...arrows, "```"].join("\n");
}

/** Returns a document with the picture as it should be. */
export function replacePicture(document: string): string {
  return document.replace(/```mermaid\n[\s\S]*?```/, drawParts);
}

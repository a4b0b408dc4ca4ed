// What Bun's JSX calls unless it is told that this is production.
export { Fragment, jsx as jsxDEV, type JSX } from "./jsx-runtime.ts";

// Bun's JSX uses this module outside production.
export { Fragment, jsx as jsxDEV, type JSX } from "./jsx-runtime.ts";

import { extendZodWithOpenApi } from "@asteasolutions/zod-to-openapi";
import { z } from "zod";

/** Schemas can have names, descriptions and examples of the OpenAPI document. */
extendZodWithOpenApi(z);

export { z };

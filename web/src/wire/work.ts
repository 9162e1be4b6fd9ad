// Short names for what the server says of pieces of work, which it calls meta-contexts.
import type { components } from "./api";

type Schemas = components["schemas"];

export type WorkId = Schemas["WorkId"];
export type Work = Schemas["MetaContext"];
export type WorkName = Schemas["MetaContextName"];
export type WorkTocEntry = Schemas["MetaContextTocEntry"];

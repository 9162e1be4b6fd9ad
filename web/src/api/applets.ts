// The routes of applets and of the files that they may read and write.
//
// Invariant: an applet's files are read and written in the name of a session, and only with the content that the person granted it to.
import type { Client } from "openapi-fetch";

import type { components, paths } from "../wire/api";
import type { NewAppletGrant, NewAppletState } from "../wire/applets";
import type { OutputId, SessionId } from "../wire/names";
import type { Answer, Fetched } from "./http";

type Answered = <T>(call: Promise<Fetched<T>>) => Promise<Answer<T>>;

/** An applet that asks for a file; `content` is the hash of its own content. */
export interface AskingApplet {
  readonly session: SessionId;
  readonly applet: string;
  readonly content: string;
}

export function appletCalls({ GET, POST, DELETE }: Client<paths>, answered: Answered) {
  const of = (session: SessionId, applet: string) => ({ params: { path: { applet }, query: { session } } });
  const by = ({ session, applet, content }: AskingApplet) => ({ session, applet, hash: content });

  /** With the file's tag, which says what a write of it expects to be there. */
  const tagged = async <T extends object>(call: Promise<Fetched<T>>): Promise<Answer<T & { hash: string | null }>> => {
    const answer = await answered(call);
    return answer.ok ? { ok: true, value: { ...answer.value, hash: hashOf((await call).response) } } : answer;
  };

  return {
    applets: () => answered(GET("/api/v1/storage/applets")),
    applet: (session: SessionId, applet: string) => answered(GET("/api/v1/storage/applet/{applet}", of(session, applet))),
    deleteApplet: (applet: string) => answered(DELETE("/api/v1/storage/applet/{applet}", { params: { path: { applet } } })),
    /** An address of its document, good for a minute; of `output`, as it was shown then. */
    appletTicket: (session: SessionId, applet: string, output: OutputId | null) =>
      answered(POST("/api/v1/storage/applet/{applet}/ticket", { params: { path: { applet }, query: { session, output: output ?? undefined } } })),
    writeAppletState: (session: SessionId, applet: string, write: NewAppletState) =>
      answered(POST("/api/v1/storage/applet/{applet}/state", { ...of(session, applet), body: write as components["schemas"]["NewAppletState"] })),
    /** The newest twenty, newest first. */
    appletVersions: (session: SessionId, applet: string) => answered(GET("/api/v1/storage/applet/{applet}/versions", of(session, applet))),
    appletVersion: (session: SessionId, applet: string, version: number) =>
      answered(GET("/api/v1/storage/applet/{applet}/versions/{version}", { params: { path: { applet, version }, query: { session } } })),
    appletGrants: (session: SessionId, applet: string) => answered(GET("/api/v1/storage/applet/{applet}/grants", of(session, applet))),
    grantApplet: (session: SessionId, applet: string, body: NewAppletGrant) => answered(POST("/api/v1/storage/applet/{applet}/grants", { ...of(session, applet), body })),
    /** Without the hash where only its beginning came. */
    readAppletFile: (asking: AskingApplet, path: string) => tagged(GET("/api/v1/storage/file", { params: { query: { ...by(asking), path } } })),
    /** `expected` is the hash of the file that may be written over. */
    writeAppletFile: (asking: AskingApplet, { path, text, expected }: { path: string; text: string; expected: string | null }) =>
      tagged(
        POST("/api/v1/storage/file", {
          params: { query: { ...by(asking), path }, header: expected === null ? {} : { "If-Match": `"${expected}"` } },
          body: { content: text },
        }),
      ),
    listAppletFiles: (asking: AskingApplet, path: string | null, after: string | null) =>
      answered(GET("/api/v1/storage/list", { params: { query: { ...by(asking), path: path ?? undefined, after: after ?? undefined } } })),
  };
}

function hashOf(response: Response): string | null {
  return /^"([0-9a-f]+)"$/.exec(response.headers.get("etag") ?? "")?.[1] ?? null;
}

// A session or a turn as Markdown, as the server writes it: to be copied, or kept as a file.
import { useHttp } from "../../app/AppContext";
import type { SessionId } from "../../wire/names";

/** How to get the words; it throws if they do not come. */
export function useMarkdown(session: SessionId, turn: number | null): () => Promise<string> {
  const http = useHttp();
  return async () => {
    const answer = await http.markdown(session, turn);
    if (!answer.ok) {
      throw new Error("the words did not come");
    }
    return answer.value;
  };
}

/** Has the browser keep what is at an address of this server as a file. */
export function saveFrom(address: string, name: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

/** A name for the file of a session: its title, as far as every file system takes it. */
export function fileName(title: string | null | undefined, extension = "md"): string {
  const plain = (title ?? "").replaceAll(/[^\p{L}\p{N}]+/gu, "-").replaceAll(/^-+|-+$/g, "").slice(0, 60);
  return `${plain === "" ? "session" : plain}.${extension}`;
}

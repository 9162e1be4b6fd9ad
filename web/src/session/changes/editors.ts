// The editor that files are opened in from this browser. Only these addresses are ever made, and only from whole paths.
import { useSyncExternalStore } from "react";

export const EDITORS = { none: "No editor", vscode: "VS Code", cursor: "Cursor", zed: "Zed", idea: "IntelliJ IDEA" } as const;
export type Editor = keyof typeof EDITORS;

const SETTING = "throughline.editor";
const CHANGED = "throughline:editor";

/** Where an editor opens a file at a line; null where none is chosen or the path is none. */
export function editorAddress(editor: Editor, path: string, line: number): string | null {
  if (!path.startsWith("/")) {
    return null;
  }
  const whole = path.split("/").map(encodeURIComponent).join("/");
  switch (editor) {
    case "none":
      return null;
    case "vscode":
    case "cursor":
    case "zed":
      return `${editor}://file${whole}:${line}`;
    case "idea":
      return `idea://open?file=${encodeURIComponent(path)}&line=${line}`;
  }
}

export function useEditor(): [Editor, (editor: Editor) => void] {
  const stored = useSyncExternalStore(
    (onChange) => {
      addEventListener(CHANGED, onChange);
      return () => {
        removeEventListener(CHANGED, onChange);
      };
    },
    () => localStorage.getItem(SETTING),
  );
  const editor = stored !== null && Object.hasOwn(EDITORS, stored) ? (stored as Editor) : "none";
  return [
    editor,
    (chosen) => {
      localStorage.setItem(SETTING, chosen);
      dispatchEvent(new Event(CHANGED));
    },
  ];
}

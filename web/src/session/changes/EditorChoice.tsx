// Which editor opens the files of this browser's links.
import { Select } from "../../ui/Select";
import type { Editor } from "./editors";
import { EDITORS, useEditor } from "./editors";

export function EditorChoice() {
  const [editor, setEditor] = useEditor();
  return (
    <label className="mt-4 flex items-center gap-2 text-[0.8125rem] text-soft">
      Open files in
      <Select className="changes-choice" value={editor} onChange={(event) => setEditor(event.target.value as Editor)}>
        {Object.entries(EDITORS).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </Select>
    </label>
  );
}

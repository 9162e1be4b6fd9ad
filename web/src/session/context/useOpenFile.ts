// Which file of the session is open; `?file=PATH` opens one.
import { useState } from "react";

import { addressField, removeAddressField } from "../../ui/navigation";

const FILE_FIELD = "file";

export function useOpenFile(): [file: string | null, open: (path: string) => void, close: () => void] {
  const [file, setFile] = useState(() => addressField(FILE_FIELD));
  const close = () => {
    removeAddressField(FILE_FIELD);
    setFile(null);
  };
  return [file, setFile, close];
}

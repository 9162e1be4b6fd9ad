// Which file of the session is open; `?file=PATH` opens one.
import { useState } from "react";

import { addressField, removeAddressField } from "../../ui/navigation";

const FILE_FIELD = "file";
/** An applet may have a field of that name. */
const APPLET_FIELD = "applet";
const isOfApplet = () => addressField(APPLET_FIELD) !== null;

export function useOpenFile(): [file: string | null, open: (path: string) => void, close: () => void] {
  const [file, setFile] = useState(() => (isOfApplet() ? null : addressField(FILE_FIELD)));
  const close = () => {
    if (!isOfApplet()) {
      removeAddressField(FILE_FIELD);
    }
    setFile(null);
  };
  return [file, setFile, close];
}

// Files dropped anywhere on the page. Without this the browser would leave the page to show the file.
import { useEffect, useEffectEvent, useState } from "react";

/** Whether files are being dragged over the page. */
export function useFileDrop(onFiles: (files: readonly File[]) => void): boolean {
  const [over, setOver] = useState(false);
  const take = useEffectEvent(onFiles);
  useEffect(() => {
    const isFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") === true;
    const drag = (event: DragEvent) => {
      if (isFiles(event)) {
        event.preventDefault();
        setOver(true);
      }
    };
    const leave = (event: DragEvent) => {
      // Going from one part of the page to another is not leaving it.
      if (event.relatedTarget === null) {
        setOver(false);
      }
    };
    const drop = (event: DragEvent) => {
      if (isFiles(event)) {
        event.preventDefault();
        setOver(false);
        take([...(event.dataTransfer?.files ?? [])]);
      }
    };
    addEventListener("dragover", drag);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", drag);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
  return over;
}

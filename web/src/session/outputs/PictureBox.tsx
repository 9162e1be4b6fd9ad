// A picture in the room that its card keeps for it; a press opens it larger.
import { useState } from "react";

interface PictureBoxProps {
  /** An address of bytes that the page holds. */
  source: string;
  name: string;
  onOpen(): void;
  /** Its size in pixels is known. */
  onPixels(words: string): void;
}

export function PictureBox({ source, name, onOpen, onPixels }: PictureBoxProps) {
  const [broken, setBroken] = useState(false);
  if (broken) {
    return <div className="output-picture output-note">This kind of picture cannot be shown.</div>;
  }
  return (
    <div className="output-picture">
      <button type="button" aria-label={`${name}, show larger`} onClick={onOpen}>
        <img
          src={source}
          alt={name}
          className="output-image"
          onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => {
            // A drawing may have no size of its own.
            if (naturalWidth > 0 && naturalHeight > 0) {
              onPixels(`${naturalWidth.toLocaleString("en")} × ${naturalHeight.toLocaleString("en")}`);
            }
          }}
          onError={() => setBroken(true)}
        />
      </button>
    </div>
  );
}

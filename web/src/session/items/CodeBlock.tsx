// A piece of code: what it is written in, the code itself, and a way to take it along.
import { CopyButton } from "../../ui/CopyButton";

export function CodeBlock({ language, code }: { language: string | null; code: string }) {
  return (
    <figure className="code-block" aria-label={language === null ? "Code" : `Code, ${language}`}>
      <figcaption>
        <span>{language ?? "text"}</span>
        <CopyButton text={code} what="the code" />
      </figcaption>
      <pre tabIndex={0} dir="ltr">
        <code>{code}</code>
      </pre>
    </figure>
  );
}

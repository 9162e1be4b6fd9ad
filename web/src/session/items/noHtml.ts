// Stands where streamdown would put a parser of HTML. The page never asks for it: see Markdown.tsx.

export default function noHtml(): void {
  // Leaves everything as it is.
}

// Which agents of the newcomer's own were found, in a sentence.
import { installedIn, useCatalog } from "../app/useCatalog";
import { Link } from "../ui/Link";
import { inOneLine } from "../ui/shown";

const GUIDE = "guide";

export function FoundAgents() {
  const catalog = useCatalog();
  const { answer, whole } = catalog;
  const found = installedIn(catalog).filter(({ name }) => name !== GUIDE);
  return (
    <>
      {found.length > 0
        ? `Found on this machine: ${found.map(({ title }) => inOneLine(title)).join(", ")}. ${whole ? "" : "Looking for more agents… "}`
        : whole
          ? answer?.ok && "No agent of your own is installed yet; the built-in guide needs no key. "
          : "Looking for agents on this machine… "}
      {(found.length > 0 || whole) && (
        <>
          <Link href="/settings/agents" className="text-ink underline decoration-rule underline-offset-2 hover:decoration-ink">
            {found.length > 0 ? "Test them, or add another" : "See how to install one"}
          </Link>
          .
        </>
      )}
    </>
  );
}

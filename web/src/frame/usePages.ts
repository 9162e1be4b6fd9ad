// Opens the pages beside the sessions by name, from the palette.
import { useActions } from "../app/actions";
import { navigate } from "../ui/navigation";

export function usePages(): void {
  useActions({
    usage: () => navigate("/usage"),
    settings: () => navigate("/settings"),
    agents: () => navigate("/settings/agents"),
    permissions: () => navigate("/settings/permissions"),
    "add-phone": () => navigate("/settings/devices"),
    theme: () => navigate("/settings"),
  });
}

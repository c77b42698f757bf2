// theme: light, dark, or as the system has it.
const KEY = "soul.theme";

export const theme = () => localStorage.getItem(KEY) ?? "system";

export function applyTheme() {
  document.documentElement.dataset.theme = theme();
}

export function setTheme(wanted) {
  localStorage.setItem(KEY, wanted);
  applyTheme();
}

// wait: conditions and ports of tests that start programs.
import { connect, createServer } from "node:net";

// What condition() returns once it is true; fails after ms.
export async function until(what, condition, ms = 60000) {
  const end = Date.now() + ms;
  for (;;) {
    const value = await condition();
    if (value)
      return value;
    if (Date.now() > end)
      throw Error(`${what}: not within ${ms} ms`);
    await new Promise((r) => setTimeout(r, 20));
  }
}

export const freePort = () => new Promise((done) => {
  const s = createServer().listen(0, "127.0.0.1", () => {
    const { port } = s.address();
    s.close(() => done(port));
  });
});

export const isOpen = (port) => new Promise((done) => {
  const s = connect(port, "127.0.0.1", () => { s.destroy(); done(true); });
  s.on("error", () => done(false));
});

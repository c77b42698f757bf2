#!/usr/bin/env node
// page: the demo page in a headless Chromium, as a visitor uses it.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Hub, WebSocket, folder, main, start, test, until } from "./test.mjs";

const WIDTH = 360;

// A page; language is "en" or "zh".
class Page {
  // Errors of the page and its policy, as text.
  errors = [];
  #n = 0;
  #replies = new Map();

  static async open(browser, url, language) {
    const page = new Page();
    const target = await (await fetch(`${browser}/json/new`,
      { method: "PUT" })).json();
    page.socket = new WebSocket(target.webSocketDebuggerUrl);
    page.socket.onmessage = ({ data }) => page.#receive(JSON.parse(data));
    await new Promise((resolve) => { page.socket.onopen = resolve; });
    for (const domain of ["Page", "Runtime", "Log"])
      await page.call(`${domain}.enable`);
    await page.call("Emulation.setDeviceMetricsOverride",
      { width: WIDTH, height: 740, deviceScaleFactor: 1, mobile: true });
    await page.call("Emulation.setUserAgentOverride",
      { userAgent: "test", acceptLanguage: language });
    await page.call("Page.navigate", { url });
    await page.until("document.querySelector('#status')?.textContent !== '' && " +
      "document.readyState === 'complete'");
    return page;
  }

  #receive({ id, method, params, result, error }) {
    if (id !== undefined)
      this.#replies.get(id)(error ?? result);
    else if (method === "Runtime.exceptionThrown")
      this.errors.push(JSON.stringify(params.exceptionDetails));
    else if (method === "Log.entryAdded" && params.entry.level === "error")
      this.errors.push(params.entry.text);
  }

  call(method, params = {}) {
    this.socket.send(JSON.stringify({ id: ++this.#n, method, params }));
    return new Promise((resolve) => this.#replies.set(this.#n, resolve));
  }

  async value(expression) {
    const { result } = await this.call("Runtime.evaluate",
      { expression, awaitPromise: true, returnByValue: true });
    return result.value;
  }

  until(expression) {
    return until(() => this.value(expression), expression);
  }

  // Fill in a form, as { id: text }, and press its button.
  async submit(form, fields) {
    for (const [id, text] of Object.entries(fields))
      await this.value(`{ const n = document.getElementById(${JSON.stringify(id)});
        n.value = ${JSON.stringify(text)};
        n.dispatchEvent(new Event("change", { bubbles: true })); }`);
    await this.value(
      `document.querySelector("#${form} button:not([type])").click()`);
  }

  log() {
    return this.value("document.getElementById('log').textContent");
  }
}

async function browser() {
  const dir = folder();
  start("chromium", ["--headless", "--no-sandbox", "--disable-gpu",
    "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run",
    "--remote-debugging-port=0", `--user-data-dir=${dir}`, "about:blank"],
  { HOME: dir, TMPDIR: dir });
  const file = join(dir, "DevToolsActivePort");
  await until(() => existsSync(file) && readFileSync(file, "utf8").includes("\n"),
    "Chromium is ready");
  return `http://127.0.0.1:${readFileSync(file, "utf8").split("\n")[0]}`;
}

test("a visitor joins an environment, talks, and sees the reply", async () => {
  const hub = await Hub.start();
  const url = `http://127.0.0.1:${hub.port}/`;
  const where = await browser();
  const env = await Page.open(where, url, "en");
  const bob = await Page.open(where, url, "en");
  await env.submit("connect", { type: "environment", env: "garden" });
  await env.until("document.getElementById('status').textContent === 'connected'");
  await bob.submit("connect", { type: "human", id: "bob" });
  await bob.until("document.getElementById('places').textContent.includes('garden')");
  await bob.value("document.querySelector('#places button').click()");
  await bob.until("document.getElementById('to').options.length === 1");
  await bob.submit("say", { text: "good morning", kind: "say" });
  await env.until("document.getElementById('log').textContent" +
    ".includes('good morning')");
  await bob.submit("say", { text: "water", kind: "action" });
  await bob.until("document.getElementById('log').textContent" +
    ".includes('done: success')");
  assert.match(await env.log(), /bobdoes: water/);
  // An error is seen once.
  await env.value("document.getElementById('disconnect').click()");
  await bob.until("document.getElementById('log').textContent" +
    ".includes('environment_down')");
  await bob.submit("say", { text: "anybody?", kind: "say" });
  await bob.until("document.getElementById('log').textContent" +
    ".includes('CONNECTION_ERROR')");
  assert.equal((await bob.log()).split("CONNECTION_ERROR").length, 2);
  assert.deepEqual([...env.errors, ...bob.errors], []);
});

test("it fits a small screen, in both languages, and every field has a label",
  async () => {
    const hub = await Hub.start();
    const where = await browser();
    for (const [language, title] of [["en-US", "Star hub"], ["zh-CN", "Star 枢纽"]]) {
      const page = await Page.open(where, `http://127.0.0.1:${hub.port}/`, language);
      await page.until(
        `document.querySelector("h1").textContent === ${JSON.stringify(title)}`);
      assert.equal(await page.value("document.documentElement.lang"),
        language.slice(0, 2));
      assert.ok(await page.value("document.documentElement.scrollWidth") <= WIDTH);
      assert.equal(await page.value(`[...document.querySelectorAll("input, select")]
        .filter((node) => node.labels.length !== 1).length`), 0);
      assert.deepEqual(page.errors, []);
    }
  });

await main();

// A person at a task: their presses, texts, keys and scrolls are counted, and they press only what they can see.
//
// Invariant: nothing is scrolled into view for the person, as a test's own click would do. What is off the screen, covered
// or see-through can not be pressed and is no result.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { api, comesToBe } from "./support.mjs";

/** What a person does, in the order in which it is listed. */
const DEEDS = ["tap", "click", "text", "key", "scroll"];
/** Of the keys, a phone's keyboard has this one. */
const PHONE_KEYS = ["Enter"];

export class Person {
  #counts = new Map();

  constructor(page, isPhone) {
    this.page = page;
    this.isPhone = isPhone;
  }

  /** With a finger on a phone, else with the mouse. */
  async press(target) {
    await untilInSight(target);
    this.#count(this.isPhone ? "tap" : "click");
    await (this.isPhone ? target.tap() : target.click());
  }

  /** Types a text where the focus is, which has to be this field: whoever types does not look for it. */
  async write(field, text) {
    await comesToBe(() => field.evaluate((element) => (element === document.activeElement ? "has the focus" : "has not")), "has the focus");
    this.#count("text");
    await this.page.keyboard.type(text);
  }

  async key(name) {
    assert.ok(!this.isPhone || PHONE_KEYS.includes(name), `a phone has no key ${name}`);
    this.#count("key");
    await this.page.keyboard.press(name);
  }

  /** Up to the beginning of a list: one scroll, however many strokes of a finger or turns of a wheel that takes. */
  async scrollToTop(list) {
    const box = await list.boundingBox();
    const top = () => list.evaluate(({ scrollTop }) => Math.round(scrollTop));
    assert.ok((await top()) > 0, "there is something to scroll");
    this.#count("scroll");
    for (let before = await top(); before > 0; before = await top()) {
      await (this.isPhone ? this.#strokeDown(box) : this.#turnWheel(box, -before));
      await comesToBe(async () => (await top()) < before, true);
    }
  }

  async #turnWheel({ x, y, width, height }, by) {
    await this.page.mouse.move(x + width / 2, y + height / 2);
    await this.page.mouse.wheel(0, by);
  }

  async #strokeDown({ x, y, width, height }) {
    const debug = await this.page.context().newCDPSession(this.page);
    const touch = (type, share) => debug.send("Input.dispatchTouchEvent", { type, touchPoints: type === "touchEnd" ? [] : [{ x: x + width / 2, y: y + height * share }] });
    await touch("touchStart", 0.1);
    for (const share of [0.3, 0.5, 0.7, 0.9]) {
      await touch("touchMove", share);
    }
    await touch("touchEnd");
    await debug.detach();
  }

  /** What shows only where a pointer rests, or where there is none. */
  async rest(target) {
    if (!this.isPhone) {
      await target.hover();
    }
  }

  #count(deed) {
    this.#counts.set(deed, (this.#counts.get(deed) ?? 0) + 1);
  }

  /** As in "2 taps, 1 text". */
  effort() {
    const done = DEEDS.filter((deed) => this.#counts.has(deed)).map((deed) => `${this.#counts.get(deed)} ${deed}${this.#counts.get(deed) === 1 ? "" : "s"}`);
    return done.join(", ");
  }
}

/** Waits until all of it can be seen on the screen. */
export async function untilInSight(target) {
  await comesToBe(() => target.evaluate(sightOf), "in sight");
}

/** Runs in the page. An observer of intersections knows what scrolls and cuts off; what lies over it is asked at its middle. */
function sightOf(element) {
  return new Promise((resolve) => {
    const observer = new window.IntersectionObserver(([{ intersectionRatio }]) => {
      observer.disconnect();
      const [line] = element.getClientRects();
      const above = line && document.elementFromPoint(line.x + line.width / 2, line.y + line.height / 2);
      resolve(
        intersectionRatio < 0.98
          ? `${Math.round(intersectionRatio * 100)} % in sight`
          : !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })
            ? "see-through"
            : element.contains(above)
              ? "in sight"
              : `covered by ${above?.tagName} “${above?.textContent.slice(0, 80)}”`,
      );
    });
    observer.observe(element);
  });
}

/** A directory for a session to write in, which goes with the test. */
export async function directory(t) {
  const cwd = await mkdtemp(path.join(tmpdir(), "loom-"));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  return cwd;
}

/** A session as it was before the task: these prompts were sent, each has ended or the last one has come to `state`. */
export async function begin({ server, dataDir }, { name, cwd = tmpdir(), prompts = [], state = "idle" }) {
  const { id } = await api(server, dataDir, "/sessions", { agent: "guide", cwd, name });
  for (const text of prompts) {
    await api(server, dataDir, `/sessions/${id}/prompts`, { text });
  }
  await comesToBe(async () => {
    const row = await api(server, dataDir, `/sessions/${id}`);
    return { turns: row.turns, state: row.state };
  }, { turns: prompts.length, state });
  return id;
}

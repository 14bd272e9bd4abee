// @ts-nocheck -- as asking.mjs
/** Timers. */

import { rest, Witness } from "./asking.mjs";

export class Timers extends Witness {}

const after = (ms, work) => new Promise((resolve) => setTimeout(() => resolve(work()), ms));

export const facts = {
  "promises go before timers, and timers by their time": async () => {
    const order = [];
    const timers = [
      after(10, () => order.push("ten")),
      after(1, () => order.push("one")),
      after(1, () => order.push("one, too")),
    ];
    void Promise.resolve().then(() => order.push("promise"));
    queueMicrotask(() => order.push("microtask"));
    order.push("at once");
    await Promise.all(timers);
    return order;
  },
  "promises of one timer go before the next timer": async () => {
    const order = [];
    await Promise.all([
      after(1, () => {
        order.push("one");
        void Promise.resolve()
          .then(() => Promise.resolve())
          .then(() => order.push("its promise"));
      }),
      after(1, () => order.push("one, too")),
    ]);
    return order;
  },
  "a timer takes back another of its time": async () => {
    const order = [];
    const first = () => {
      order.push("first");
      clearTimeout(other);
    };
    setTimeout(first, 1);
    const other = setTimeout(() => order.push("taken back"), 1);
    await rest(20);
    return order;
  },
  "an interval goes on until it is taken back": async () => {
    let count = 0;
    await new Promise((resolve) => {
      const interval = setInterval(() => {
        count += 1;
        if (count < 3) return;
        clearInterval(interval);
        resolve();
      }, 1);
    });
    await rest(20);
    return count;
  },
  "a time that is over is no time": async () => {
    const order = [];
    await Promise.all([
      after(-5, () => order.push("negative")),
      after(0, () => order.push("none")),
    ]);
    return order;
  },
  "a signal of a time": async () => {
    const signal = AbortSignal.any([new AbortController().signal, AbortSignal.timeout(5)]);
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return [signal.aborted, signal.reason.name];
  },
};

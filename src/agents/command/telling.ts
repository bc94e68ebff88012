/** The events of a turn in the order a reader expects: the session, that the model answers, what it says, what it costs. */
import type { Usage } from "../../events.ts";
import { priceOf } from "../../platform/prices.ts";
import type { AgentEvent } from "../../ports.ts";
import type { Meter } from "./meter.ts";
import type { ModelWay } from "./model-way.ts";
import type { TurnRecord } from "./record.ts";
import type { View } from "./view.ts";

interface Parts {
  ref: string;
  /** As asked for; the program may name another. */
  model: string | undefined;
  /** What the program prints is known to be the model's. */
  isModels: boolean;
  view: Readonly<View>;
  meter: Meter;
  way: ModelWay;
  record: TurnRecord;
  /** The conversation exists on the program's side from now on. */
  onExists: () => void;
}

export interface Telling {
  open(): AgentEvent[];
  /** The model has begun to answer. */
  answering(): AgentEvent[];
  tell(events: readonly AgentEvent[]): AgentEvent[];
  usage(): Usage;
  /** The model has told more of what was used; also of a program that says nothing of it. */
  spent(): void;
  /** What was told of that since the last time. */
  metered(): AgentEvent[];
}

const SAID: readonly AgentEvent["type"][] = ["message", "text", "thinking", "tool-start"];

export function telling({ ref, model, isModels, view, meter, way, record, onExists }: Parts): Telling {
  let [opened, requested, exists, answered] = [false, false, false, false];
  let metered: Usage | undefined;

  const usage = (): Usage => {
    const seen = Math.max(meter.messages(), answered ? 1 : 0);
    // Who does not go through pawl was given its prompt, and may have asked.
    const requests = Math.max(seen, way.counts ? way.requests() : 1);
    const answers = way.counts ? Math.max(way.answers(), seen) : undefined;
    return meter.usage({ requests, answers, model: view.model ?? model, price: priceOf });
  };
  const open = (): AgentEvent[] => {
    if (opened) return [];
    opened = true;
    return [{ type: "session-opened", ref, model: view.model ?? model ?? null }];
  };
  const answering = (): AgentEvent[] => {
    if (requested) return [];
    requested = true;
    return [{ type: "request" }];
  };

  const noted = (): Usage => {
    const now = usage();
    record.note({ is: "usage", usage: now, tools: meter.tools(), messageId: view.messageId ?? null });
    return now;
  };

  return {
    open,
    answering,
    usage,
    spent: () => void (metered = noted()),
    metered() {
      if (metered === undefined) return [];
      const now = metered;
      metered = undefined;
      return [...open(), { type: "usage", usage: now }];
    },
    tell(events) {
      const told: AgentEvent[] = view.session === undefined && view.model === undefined ? [] : open();
      for (const event of events) {
        told.push(...open());
        if (isModels && SAID.includes(event.type)) {
          answered = true;
          told.push(...answering());
        }
        told.push(event);
      }
      if (!exists && (answered || way.requests() > 0)) {
        exists = true;
        onExists();
      }
      if (events.length === 0) return told;
      return [...told, { type: "usage", usage: noted() }];
    },
  };
}

/** A repository with a recorded run, for the command line to look at. */
import { promptBlob } from "../../src/loop/prompt.ts";
import { cliPlace, type CliPlace } from "./cli.ts";
import { iterationFacts, laneReady, recordRun, type Recording } from "./recorded-run.ts";

export const RUN = "r-20261115-aaaaaa";

export interface Recorded {
  place: CliPlace;
  recording: Recording;
}

/** A run of two red iterations, with prompt and log as blobs; nobody drives it. */
export async function recorded({ run = RUN, text = "hello" }: { run?: string; text?: string } = {}): Promise<Recorded> {
  const place = await cliPlace({});
  const recording = await recordRun({
    dir: place.state,
    repository: place.repository.path,
    run,
    spec: { goal: `make ${text} work` },
  });
  const { blobs, trace } = recording.handle;
  const parts = [
    { name: "goal", bytes: 10, cut: 0, included: true },
    { name: "verdicts", bytes: 0, cut: 900, included: false },
  ];
  const prompt = (await blobs.put(promptBlob({ text: `Iteration 1\n\nThe whole prompt: ${text}\n`, parts }))).hash;
  const log = (await blobs.put(`not ok 1 - a\n${text}\n`)).hash;
  await recording.add(...laneReady());
  await recording.add(...iterationFacts(1, { prompt, log, verdict: "fail", text }));
  await recording.add(...iterationFacts(2, { prompt, log, verdict: "fail", text: `second ${text}` }));
  const start = (await recording.handle.journal.read(run)).find((fact) => fact.type === "turn-start");
  const at = (start?.at ?? 0) + 1;
  trace.write(run, { at, turn: 1, kind: "text", data: { type: "text", text: `I say ${text}` } });
  trace.write(run, {
    at: at + 1,
    turn: 1,
    kind: "tool-start",
    data: { type: "tool-start", id: "t1", name: "Bash", input: { command: `run ${text}` } },
  });
  trace.write(run, {
    at: at + 2,
    turn: 1,
    kind: "tool-end",
    data: { type: "tool-end", id: "t1", ok: false, output: text },
  });
  await trace.flush();
  return { place, recording };
}

/** pawl's state and a workspace, held for as long as a run of this program is driven; let go of where it does not begin. */
import { openDriverState, type Environment, type State } from "../../compose.ts";
import { currentOwner } from "../../platform/owner.ts";
import { lockWorkspace, type Lock } from "../../workspace/lock.ts";

interface Held {
  readonly state: State;
  /** UsageError where somebody else has it. */
  readonly lock: (path: string) => void;
  readonly unlock: () => void;
  /** All of it. Repeatable. */
  readonly release: () => void;
}

export async function holding<T>(env: Environment, begin: (held: Held) => Promise<T>): Promise<T> {
  const state = await openDriverState(env);
  let lock: Lock | undefined;
  const unlock = (): void => {
    lock?.release();
    lock = undefined;
  };
  const release = (): void => {
    unlock();
    state.close();
  };
  try {
    return await begin({
      state,
      lock: (path) => void (lock = lockWorkspace({ path, stateDir: state.dir, owner: currentOwner() })),
      unlock,
      release,
    });
  } catch (error) {
    release();
    throw error;
  }
}

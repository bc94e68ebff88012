/**
 * How the room of a prompt is divided between its parts: together less than all of it, so that none is ever dropped. What
 * a part does not use of its share is the history's.
 */

export const QUESTION_SHARE = 0.15;
export const FILES_SHARE = 0.1;
export const PLAN_SHARE = 0.12;
export const VERDICT_SHARE = 0.06;
export const DIRECTIVE_SHARE = 0.06;
/** Of one result, in a conversation that knows all the others; and what that may hold already when another is added. */
export const RESULT_SHARE = 0.3;
export const CONVERSATION_SHARE = 0.4;
/** What stands after the history, and may be otherwise in the next prompt: the plan, verdicts, words of people, a few lines. */
export const CHANGING_SHARE = PLAN_SHARE + VERDICT_SHARE + DIRECTIVE_SHARE + 0.06;

/**
 * Nobody listens there. A port that was free a moment ago may be another test's by now, or the one that a connection to it
 * is itself given; this one is never given out.
 */
export const CLOSED_PORT = 1;

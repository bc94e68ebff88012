/**
 * Someone who stops reading (`| head`), a terminal that was closed (EIO) or a log on a full disk does not stop the run:
 * all of it is in the journal. A driver that died of it would leave its agent working with nobody to meter it.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
}

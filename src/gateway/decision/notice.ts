/** One line for the operator, of a bounded length: names and reasons in it come from servers. */
const noticeCharactersMax = 240;

/** The line, cut where it is too long; `way`, which says how to go on, is never what is cut. */
export function notice(text: string, way = ""): string {
  const room = Math.max(0, noticeCharactersMax - way.length);
  const head = text.length <= room ? text : `${text.slice(0, Math.max(0, room - 3))}...`;
  return `${head}${way}`.slice(0, noticeCharactersMax);
}

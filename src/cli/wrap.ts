/** A line as lines of a terminal, broken at a blank where there is one near the edge. */
export function wrapped(line: string, room: number): string[] {
  if (line.length <= room) return [line];
  const blank = line.lastIndexOf(" ", room);
  const end = blank > room / 2 ? blank : room;
  return [line.slice(0, end), ...wrapped(line.slice(end).trimStart(), room)];
}

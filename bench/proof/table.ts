/** Rows of a Markdown table; the first column is text, the others are figures. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, at) => (at === 0 ? "---" : "--:"))), ...rows.map(line)].join("\n");
}

export function thousands(value: number | undefined): string {
  return value === undefined ? "–" : Math.round(value).toLocaleString("en-US");
}

/** Milliseconds to three digits, which is all that a shared machine can tell. */
export function ms(value: number | undefined): string {
  if (value === undefined) return "–";
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** One bar each, as an SVG that reads on light and on dark. */
export function barChart(
  title: string,
  bars: readonly { readonly name: string; readonly value: number }[],
  unit: string,
): string {
  const most = Math.max(...bars.map(({ value }) => value));
  const rows = bars.map(({ name, value }, index) => {
    const y = 44 + index * 30;
    const width = Math.max(2, (value / most) * 420);
    const fill = name.startsWith("llmc") ? "#2f9e6e" : "#8a94a6";
    return `<text x="150" y="${y + 15}" text-anchor="end">${name}</text><rect x="160" y="${y}" width="${width.toFixed(1)}" height="20" rx="3" fill="${fill}"/><text x="${(168 + width).toFixed(1)}" y="${y + 15}">${thousands(value)}${unit}</text>`;
  });
  const height = 56 + bars.length * 30;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 ${height}" font-family="system-ui, sans-serif" font-size="13" fill="#7a8494"><text x="16" y="24" font-size="15" font-weight="600">${title}</text>${rows.join("")}</svg>\n`;
}

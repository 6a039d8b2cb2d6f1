import { FLOOR, LIBRARY } from './contenders/index.mjs';

/** The table of what was measured, as Markdown: the library against the floor, then each peer against the library. */
export function table(results) {
  const peers = [...new Set(results.flatMap(({ contenders }) => Object.keys(contenders)))].filter(
    (name) => name !== FLOOR && name !== LIBRARY,
  );
  const header = ['', 'row', 'unit', FLOOR, LIBRARY, 'ratio', 'by CPU time', ...peers];
  return [header, header.map(() => '---'), ...results.map((result) => cells(result, peers))]
    .map((line) => `| ${line.join(' | ')} |`)
    .join('\n');
}

function cells({ workload, row, metric, unit, isAbsolute, contenders }, peers) {
  const value = (name) => contenders[name]?.[metric];
  const ratio = (of) => (of === undefined || isAbsolute ? '' : of.toFixed(2));
  const peer = (of) => of && `${shown(of.median)}${of.toLibrary === undefined ? '' : ` (${of.toLibrary.toFixed(1)}×)`}`;
  const library = value(LIBRARY);
  return [
    workload,
    row,
    unit,
    value(FLOOR) ? shown(value(FLOOR).median) : '',
    library ? shown(library.median) : '',
    ratio(library?.toFloor),
    metric === 'ms' || metric === 'us' ? ratio(contenders[LIBRARY]?.cpu?.toFloor) : '',
    ...peers.map((name) => peer(value(name)) ?? ''),
  ];
}

function shown(number) {
  return Math.abs(number) >= 100 ? Math.round(number).toLocaleString('en') : number.toPrecision(3);
}

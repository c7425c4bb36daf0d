// All that the page says, in one place. A translation is another object of this shape.

/** @param {number} value */
export const short = (value) => !Number.isFinite(value) ? (value < 0 ? '−∞' : Number.isNaN(value) ? '–' : '∞')
  : value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e5) ? value.toExponential(1).replace('e+', 'e').replaceAll('-', '−')
    : String(Number(value.toPrecision(3))).replace('-', '−');

/** @param {number} n @param {string} one @param {string} [many] */
const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;

/** @param {string[]} words */
const listed = (words) => (words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words[words.length - 1]}`);

const SHAPES = /** @type {Record<number, string>} */ ({ 1: 'circle', [-1]: 'square', 2: 'triangle' });

/** Words in the markup, by key. */
export const TEXTS = /** @type {Record<string, string>} */ ({
  lead: 'Kernel machines with a proof',
  titleSvc: 'Drag a point. The boundary and its proof follow.',
  titleSvr: 'Drag a point. The curve and its proof follow.',
  titleRidge: 'Drag a point. The curve and its proof follow.',
  titleOneclass: 'Drag a point. The edge of the data follows.',
  titlePerceptron: 'Drag a point, and it learns anew.',
  introSvc: 'and the widest margin between them.',
  introSvr: 'A curve with a tube around it: points inside cost nothing.',
  introRidge: 'A smooth curve: every distance to it costs its square.',
  introOneclass: 'No labels: where is the data, and which points are strangers?',
  introPerceptron: 'and a line that learns from its mistakes.',
  circles: 'Blue circles', squares: 'orange squares', triangles: 'green triangles', comma: ', ',
  examples: 'Start from', machine: 'Machine', kernel: 'Kernel', legend: 'How to read it', words: 'In words', figures: 'This machine',
  svc: 'Support vector machine', svr: 'Support vector regression', oneclass: 'One-class: find strangers', ridge: 'Kernel ridge regression', perceptron: 'Perceptron',
  linear: 'linear', poly: 'poly', rbf: 'rbf', laplacian: 'laplacian', text: 'as text',
  textKernel: 'Kernel as text', textHint: 'Sums, products, powers: 2*rbf(gamma=0.5) + linear**2',
  textAlone: 'A kernel as text needs Python: run mercer play.',
  C: 'price of a violation', gamma: 'how local', degree: 'degree', coef0: 'constant in the kernel', epsilon: 'half the tube', nu: 'share of strangers', lambda: 'smoothness',
  clickAdds: 'Click adds', circle: 'circle', square: 'square', triangle: 'triangle',
  relabel: 'Relabel', delete: 'Delete', undo: 'Undo', redo: 'Redo', relabelHint: 'Relabel (R)', deleteHint: 'Delete (Del)', undoHint: 'Undo (Ctrl+Z)', redoHint: 'Redo (Ctrl+Shift+Z)',
  points: 'Points', plot: 'Points and boundary. Arrows go from point to point, Shift and arrows move one, A adds, R relabels, Delete deletes.',
  dragMe: 'drag me', proof: 'Proof: dual and primal',
  dual: 'Dual', primal: 'Primal', dualNote: 'no machine can cost less', primalNote: 'what this one costs', gapNote: 'relative gap',
  lower: 'Margin', upper: 'Bound', lowerNote: 'of this f', upperNote: 'no f has more',
  boundary: 'boundary, f = 0', margins: 'margins, f = ±1', slack: 'slack, to its margin', mute: 'no influence, α = 0', support: 'support vector, size by α', bound: 'at the bound, α = C',
  curve: 'the curve f', tube: 'the tube, f ± ε', residual: 'what costs, to the tube', residualRidge: 'what costs, to the curve', edge: 'edge of the data, f = 0', stranger: 'how far outside', boundOne: 'at the bound, α = 1', mistakes: 'mistakes on it, by size', muteBeta: 'no influence, β = 0', supportBeta: 'weight β, by size', boundBeta: 'at the bound, |β| = C',
  supportCount: 'Support vectors', boundCount: 'of these at the bound', margin: 'Margin 1/‖w‖', wrong: 'On the wrong side', outside: 'Outside the tube', strangers: 'Strangers', line: 'f(x)', time: 'Solved in', mistakeCount: 'Mistakes', passes: 'Passes over the points',
  views: 'Views', gram: 'Gram matrix', features: 'Feature space', gramImage: 'Gram matrix, sorted by class', gramHint: 'Point at a row to find its point.', gramAway: 'The Gram matrix is not shown for so many points.', turn: 'Turn',
  featurePlane: 'φ(x) = x: the feature space of the linear kernel is the plane itself, and w is a direction in it.',
  featureSpace: 'φ(x) has three coordinates. In this space the boundary is a plane. Drag to turn it.',
  featureSpaceCurve: 'φ(x) = (x, x², …): the curve is flat up here.',
  steps: 'Step by step', showSteps: 'Show the steps', hideSteps: 'Solve at once', method: 'Method', pairs: 'Pairs (SMO)', subgradient: 'Subgradient, steps 1/t', 'subgradient-best': 'Subgradient, best steps', stochastic: 'Stochastic, steps 1/t', 'stochastic-best': 'Stochastic, best steps',
  first: 'To the start', back: 'One step back', play: 'Play', pause: 'Pause', forward: 'One step', last: 'To the end', position: 'Step', perceptronTable: 'Primal and dual, side by side',
  next: 'What happens next?', check: 'Check', reveal: 'Tell me', yes: 'Yes', no: 'No', answer: 'Your answer',
  noStepsData: 'Steps need points to learn from.', noStepsRidge: 'Ridge regression has no steps: its answer is one linear system, (K + λI)β + b = t, solved at once.', noStepsText: 'Steps are for the built-in kernels.', noStepsClasses: 'Steps are for two classes: with three there is a machine for each pair.', noStepsMany: 'Steps are shown for up to 400 points.',
  worked: 'The exact solution, worked by hand', showWorked: 'Solve it exactly', hideWorked: 'Close the solution', workedBusy: 'Working it out in fractions…', workedFrame: 'Worked solution',
  workedAlone: 'The exact solution of these points comes from Python: run mercer play.', workedFailed: 'There is no solution by hand for this:', latex: 'LaTeX',
  take: 'Take it along', data: 'Data', link: 'Copy link', png: 'Picture (PNG)', svg: 'Picture (SVG)', csv: 'Table (CSV)', python: 'Python', shell: 'Command line', close: 'Close', copy: 'Copy', copied: 'Copied', linkCopied: 'The link is copied.', linkHere: 'The link is in the address bar.',
  paste: 'Rows of two numbers and a label', pasteHint: '1, 3, +1', useRows: 'Use these rows', openFile: 'Open a CSV file', clear: 'Remove all points', theme: 'Dark',
  emptyPoints: 'Click anywhere to place a point.', emptyClasses: 'Now add the other class: a boundary needs both. (Shift-click)', emptyTwo: 'This perceptron knows two classes: relabel or delete one of the three.',
  remoteFailed: 'Python could not solve this:', workerFailed: 'So many points could not be solved here:',
});

/** @type {Record<string, string>} */
export const EXAMPLE_NAMES = {
  three: 'Three points', xor: 'XOR', moons: 'Moons', rings: 'Rings', clouds: 'Three classes', wave: 'A wave', cloud: 'Strangers', perceptron: 'Perceptron',
};

/** @type {Record<string, string>} */
export const FORMULAS = {
  linear: 'k(x, z) = x · z', poly: 'k(x, z) = (γ x · z + c)ᵈ', rbf: 'k(x, z) = exp(−γ ‖x − z‖²)', laplacian: 'k(x, z) = exp(−γ ‖x − z‖₁)', text: '',
};

/** The name of a point, for screen readers. @param {{x: number, y: number, label: import('./state.js').Label}} p @param {'none' | 'free' | 'bound'} kind
 * @param {number} beta @param {import('./state.js').MachineName} machine @param {number} number 0 where none is shown */
export function pointName(p, kind, beta, machine, number) {
  const name = machine === 'svc' || machine === 'perceptron' ? SHAPES[p.label] : 'point';
  const role = kind === 'none' ? 'no influence' : kind === 'bound' ? 'at the bound' : `weight ${short(Math.abs(beta))}`;
  return `${number ? `${number}: ` : ''}${number ? name[0] : name[0].toUpperCase()}${name.slice(1)} at ${p.x}, ${p.y}, ${role}`;
}

/** @param {{x: number, y: number, label: import('./state.js').Label} | undefined} p */
export const gramNote = (p) => (p ? `The row of the ${SHAPES[p.label]} at ${p.x}, ${p.y}.` : TEXTS.gramHint);

/** @param {import('./state.js').State} state @param {import('./solve.js').Summary} s @param {string} lack */
export function sentence(state, s, lack) {
  const { machine, kernel, degree, points } = state, n = points.length;
  const groups = /** @type {const} */ ([1, -1, 2]).map((label) => [points.filter((p) => p.label === label).length, SHAPES[label]]);
  const held = listed(groups.filter(([c]) => Number(c) > 0).map(([c, name]) => count(Number(c), String(name))));
  if (lack === 'points') return 'There are no points yet.';
  if (lack === 'classes') return `${held}: a boundary needs both classes.`;
  if (lack) return TEXTS.emptyTwo;
  const curve = { linear: 'A straight line', poly: `A polynomial of degree ${degree}`, rbf: 'A radial kernel', laplacian: 'A Laplacian kernel', text: 'This kernel' }[kernel];
  const proof = s.relative <= 1e-6 ? 'Proved: no machine costs less by more than one part in a million.' : `Its cost is within ${short(s.relative * 100)} % of the best.`;
  if (machine === 'perceptron') return perceptronSentence(held, s);
  if (machine === 'ridge') return `${curve} is fitted to ${count(n, 'point')} so that squared distances and roughness are least together. ${proof}`;
  if (machine === 'svr') return `${curve} follows ${count(n, 'point')} with ${s.errors ? `${s.errors} outside` : 'none outside'} its tube. ${carried(s, n, 'the curve')} ${proof}`;
  if (machine === 'oneclass') return `${curve} encloses ${count(n, 'point')}, with ${s.errors ? count(s.errors, 'stranger') : 'no stranger'} outside. ${carried(s, n, 'the edge')} ${proof}`;
  return `${curve} tells ${apart(held)}, ${s.errors ? `with ${s.errors} on the wrong side` : 'with none on the wrong side'}. ${carried(s, n, 'the boundary')} ${proof}`;
}

/** "30 circles from 30 squares"; three are told apart. @param {string} held */
const apart = (held) => (held.includes(',') ? `${held} apart` : held.replace(' and ', ' from '));

/** @param {string} held @param {import('./solve.js').Summary} s */
function perceptronSentence(held, s) {
  const told = `The perceptron went over ${held} ${count(s.passes, 'time')} and made ${count(s.mistakes, 'mistake')}.`;
  if (s.errors) return `${told} ${s.errors} ${s.errors === 1 ? 'is' : 'are'} still on the wrong side: no pass was free of mistakes.`;
  return `${told} Now none is on the wrong side. Its margin is ${short(s.dual)}; the mistakes prove that no machine has more than ${short(s.primal)}.`;
}

/** Only of an answer that is near the best. @param {{free: number, bound: number, relative: number}} s @param {number} n @param {string} what */
const carried = ({ free, bound, relative }, n, what) => (relative > 1e-2 ? 'This is as far as it got.' : free + bound === n ? `Every point holds ${what}.`
  : `${count(free + bound, 'point')} ${free + bound === 1 ? 'holds' : 'hold'} ${what}; without the others it would be the same.`);

/** Where the steps have got to. @param {number} at @param {number} last @param {import('./solve.js').Summary} s @param {import('./state.js').MachineName} machine */
export const stepSentence = (at, last, s, machine) => `After ${positionText(at, last)}: ` + (machine === 'perceptron'
  ? `${count(s.mistakes, 'mistake')} so far, ${s.errors} on the wrong side.`
  : `${machine === 'svc' ? `${s.errors} on the wrong side; ` : ''}this machine costs ${short(s.primal)}, and none can cost less than ${short(s.dual)}.`);

/** @param {number} share of the spread */
export const pcaNote = (share) => `Kernel PCA: the two directions in which φ(x) is spread most, ${Math.round(100 * share)} % of it.`;

/** @param {number} mended */
export const mendedNote = (mended) => (mended ? `${count(mended, 'part')} of the link ${mended === 1 ? 'was' : 'were'} not understood and replaced.` : '');

/** @param {{points: readonly unknown[], skipped: number, strange: number, left: number}} table */
export const tableNote = ({ points, skipped, strange, left }) => (points.length ? count(points.length, 'point') + ' read.' : 'No row has two numbers in it.')
  + (skipped > 0 ? ` ${count(skipped, 'row')} left out: no two numbers.` : '') + (strange > 0 ? ` ${count(strange, 'row')} of further classes left out: the page tells three apart.` : '')
  + (left > 0 ? ` ${count(left, 'row')} beyond the first 2,000 left out.` : '');

/** @param {number} some @param {number} all */
export const partOf = (some, all) => `${some} of ${all}`;

/** @param {number} at @param {number} last */
export const positionText = (at, last) => `step ${at} of ${last}`;

/** What a step did, and why. @param {import('./steps.js').Event} e @param {import('./state.js').State} state @returns {{what: string, why: string}} */
export function stepText(e, state) {
  const name = (/** @type {number} */ k) => `point ${k + 1}`, [i, j] = e.points;
  if (e.kind === 'start') return { what: 'Nothing is learned yet: every multiplier is 0.', why: { perceptron: 'The perceptron looks at one point after the other and learns only from mistakes.',
    svc: { pairs: 'Each step will change two multipliers, so that their sum stays right.', subgradient: 'Each step will follow the slope of the cost.', 'subgradient-best': 'Each step will take the best combination of all slopes so far.',
      stochastic: 'Each step will look at one point, drawn at random.', 'stochastic-best': 'Each step will look at one point, in random order, and keep what it says.' }[state.method],
    svr: 'Each step will change two multipliers, so that their sum stays 0.', oneclass: 'Each step will move weight from one point to another.', ridge: '' }[state.machine] };
  if (e.kind === 'end') return e.stop === 'done'
    ? { what: state.machine === 'perceptron' ? `A pass without a mistake: done after ${count(e.count, 'mistake')}.` : 'No step gains any more: primal and dual have met.', why: state.machine === 'perceptron' ? 'Every point is on its side.' : 'That is the proof: nothing can cost less than the dual says, and this machine costs no more.' }
    : { what: `This is as far as the steps are shown: ${e.count}.`, why: state.machine === 'perceptron' ? 'Perhaps no line separates these points.'
      : state.machine === 'svc' && /^(subgradient|stochastic)$/.test(state.method) ? 'Steps of 1/t come ever nearer to the best, but only about as fast as 1/t: the bar stays open. Best steps close it, and so does “Solve at once”.'
        : 'The method goes on, more and more slowly. The bar shows what is still open.' };
  if (e.kind === 'mistake') return { what: `Pass ${e.count}: ${name(i)} is on the wrong side, so its α grows by 1: w ${e.size > 0 ? 'gains' : 'loses'} φ(x${sub(i)}).`,
    why: e.before === 0 ? 'f is 0 there, which counts as a mistake: f has to say something.' : `y f = ${short(e.size * e.before)} there, not above 0. The step turns w towards that point's side.` };
  if (e.kind === 'pair') return { what: `${name(i)[0].toUpperCase()}${name(i).slice(1)} gains ${short(e.size)}, and ${name(j)} gives as much.`,
    why: `Of all pairs this promises most: their slopes differ by ${short(e.rise)}. ${e.stop === 'middle' ? 'The step goes to the top of the dual along this pair.' : `It stops where ${name(e.stop === 'top' ? i : j)} meets its bound.`}` };
  if (e.kind === 'subgradient') return { what: `Step 1/${e.count}: ${count(e.points.length, 'point')} inside the margin ${e.points.length === 1 ? 'pushes' : 'push'} w, and w itself shrinks by the same part.`,
    why: 'The slope of the cost is w − C Σ y φ(x) over the points with y f < 1. The step is 1/t: long at first, then ever shorter.' };
  if (e.kind === 'combined') return { what: `${count(e.points.length, 'point')} inside the margin ${e.points.length === 1 ? 'gives' : 'give'} a new slope; of all slopes so far the best combination is taken, with ${short(e.size)} of this one.`,
    why: 'Nothing to tune: which shares are best is a small dual problem, and every combination is a bound. So the bar closes.' };
  if (e.kind === 'drawn') return { what: `Point ${i + 1} is drawn: y f = ${short(e.before)}. ${e.pushes ? 'It is not outside the margin and joins.' : 'It has joined already or is far enough out: nothing changes.'}`,
    why: `w is the best machine of the ${count(e.count, 'point')} that ${e.count === 1 ? 'has' : 'have'} joined. When nobody joins any more, it is the best of all.` };
  return { what: `Point ${i + 1} is drawn: y f = ${short(e.before)}. ${e.pushes ? 'It is inside the margin and pushes.' : 'It is far enough out: w only shrinks.'}`,
    why: `One point stands for all: in the mean, ${e.pushes ? 'n C y φ(x)' : 'nothing'} added to a shrunken w is the true slope. The step is 1/${e.count}.` };
}

/** @param {number} k */
const sub = (k) => String(k + 1).replace(/\d/g, (digit) => '₀₁₂₃₄₅₆₇₈₉'[Number(digit)]);

/** What to ask before a step is shown. @param {import('./steps.js').Event} e @returns {{text: string, kind: 'number' | 'yesno'}} */
export function question(e) {
  if (e.kind === 'mistake') return { kind: 'number', text: 'Which point is the next mistake? Go on in order from the last one; give its number.' };
  if (e.kind === 'pair') return { kind: 'number', text: 'Two points will change. Give the number of one of them.' };
  if (e.kind === 'drawn') return { kind: 'yesno', text: `Point ${e.points[0] + 1} is drawn. Does it join: is its y f at most 1, and is it new?` };
  if (e.kind === 'subgradient' || e.kind === 'combined') return { kind: 'number', text: 'How many points will push: how many have y f < 1, or sit exactly there?' };
  if (e.kind === 'stochastic') return { kind: 'yesno', text: `Point ${e.points[0] + 1} is drawn. Does it push: is its y f below 1?` };
  return { kind: 'yesno', text: 'Is there another step?' };
}

/** @param {import('./steps.js').Event} e @param {number | boolean} given */
export function isRight(e, given) {
  if (e.kind === 'mistake' || e.kind === 'pair') return typeof given === 'number' && e.points.includes(given - 1);
  if (e.kind === 'subgradient' || e.kind === 'combined') return given === e.points.length;
  return given === e.pushes; // at the end: there is no other step
}

/** @param {import('./steps.js').Event} e */
export function answerText(e) {
  if (e.kind === 'mistake') return `It is point ${e.points[0] + 1}.`;
  if (e.kind === 'pair') return `They are points ${e.points[0] + 1} and ${e.points[1] + 1}.`;
  if (e.kind === 'subgradient' || e.kind === 'combined') return `It is ${e.points.length}.`;
  return e.kind === 'stochastic' || e.kind === 'drawn' ? `${e.pushes ? 'Yes' : 'No'}: y f = ${short(e.before)}.` : 'No: this is the end.';
}

/** @param {boolean} right @param {string} answer */
export const verdict = (right, answer) => `${right ? 'Right.' : 'Not so.'} ${answer}`;


// Everything that servers, models and users say becomes a text node: nothing of it is ever read as HTML.

const byId = (id) => document.getElementById(id);
const [answers, form, question, ask, stop, user] = ['answers', 'form', 'question', 'ask', 'stop', 'user'].map(byId);

/** An element with classes and text or children. */
function element(name, className, ...children) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...children);
  return made;
}

/** Shows the steps of one answer as they come. */
class Answer {
  calls = new Map();

  constructor(text) {
    this.article = element('article', '', element('h2', '', text));
    answers.append(this.article);
  }

  add(child) {
    this.article.append(child);
    child.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  }

  start({ model, scripted, tools }) {
    const who = scripted ? 'scripted stand-in, no model' : model;
    this.add(element('p', 'meta', `${who} · ${tools.length} tools`));
  }

  text({ text }) {
    this.add(element('p', 'text', text));
  }

  notice({ text }) {
    this.add(element('p', 'notice', text));
  }

  call({ id, name, input }) {
    const shown = typeof input === 'string' ? input : JSON.stringify(input);
    const state = element('span', 'state', 'running…');
    const line = element(
      'p',
      '',
      element('code', '', name),
      element('code', 'arguments', shown === '{}' ? '' : shown),
      state,
    );
    const card = element('div', 'call', line);
    this.calls.set(id, { card, state });
    this.add(card);
  }

  artifact({ callId, url, mediaType, name }) {
    const call = this.calls.get(callId);
    const medium = mediaType.startsWith('image/') ? element('img', '') : element('a', '', `${name} (${mediaType})`);
    Object.assign(medium, mediaType.startsWith('image/') ? { src: url, alt: name } : { href: url, download: name });
    (call?.card ?? this.article).append(medium);
  }

  result({ id, failed, text }) {
    const { card, state } = this.calls.get(id) ?? {};
    card?.classList.add(failed ? 'bad' : 'good');
    if (state) state.textContent = failed ? 'failed' : 'done';
    card?.querySelector('p').after(element('pre', '', text));
  }

  error({ message }) {
    for (const { card, state } of this.calls.values()) {
      if (state.textContent === 'running…') {
        state.textContent = 'given up';
        card.classList.add('bad');
      }
    }
    this.add(element('p', 'error', message));
  }

  done() {}
}

/** The events of a response whose body is a stream of server-sent events. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    const events = rest.split('\n\n');
    rest = events.pop();
    for (const event of events) {
      const fields = new Map(
        event.split('\n').map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
      );
      yield { type: fields.get('event'), data: JSON.parse(fields.get('data')) };
    }
  }
}

const post = (path, body, signal) =>
  fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body), signal });

const STEPS = new Set(['start', 'text', 'notice', 'call', 'artifact', 'result', 'error', 'done']);

async function answer(text) {
  const shown = new Answer(text);
  const left = new AbortController();
  stop.onclick = () => left.abort();
  [ask.disabled, stop.hidden] = [true, false];
  let ended = false;
  try {
    const response = await post('/ask', { question: text }, left.signal);
    if (!response.ok) throw new Error((await response.json()).error);
    for await (const { type, data } of eventsOf(response)) {
      if (STEPS.has(type)) shown[type](data);
      ended ||= type === 'done' || type === 'error';
    }
    if (!ended) throw new Error('The connection ended before the answer did.');
  } catch (error) {
    shown.error({ message: left.signal.aborted ? 'You stopped the answer.' : error.message });
  } finally {
    [ask.disabled, stop.hidden] = [false, true];
  }
}

form.onsubmit = (event) => {
  event.preventDefault();
  if (ask.disabled) return;
  const text = question.value.trim();
  question.value = '';
  if (text !== '') void answer(text);
};

for (const example of document.querySelectorAll('.example')) {
  example.onclick = () => {
    question.value = example.textContent;
    form.requestSubmit();
  };
}

user.onchange = async () => {
  await post('/session', { user: user.value });
  for (const article of document.querySelectorAll('article')) article.remove();
};

/** Signs the first user in and says who answers. */
async function begin() {
  const { model, scripted, users } = await (await fetch('/about')).json();
  user.append(...users.map((name) => element('option', '', name)));
  const script = 'No model: a script picks the calls. Set ANTHROPIC_API_KEY or OPENAI_API_KEY to ask one.';
  byId('model').append(scripted ? element('span', 'scripted', script) : `Model: ${model}`);
  await post('/session', { user: user.value });
}

void begin();

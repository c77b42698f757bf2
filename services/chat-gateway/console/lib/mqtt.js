// mqtt: a client of MQTT 3.1.1 over a WebSocket, for a body: QoS 0 and 1.
//
//   const client = new Mqtt(socket, { onMessage, onEnd })
//   await client.connect({ clientId, username, password, will, keepAlive })
//   await client.subscribe(["a/+"])
//   await client.publish("a/b", "text", { qos: 1, retain: true })
//   client.end()
//
// Promises reject when the connection ends, with onEnd()'s error.  A client has one
// connection; another one is another client.

// Bytes of a packet that is read.
export const PACKET_MAX = 512 * 1024;
const ACK_MS = 10000;

const [CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP, DISCONNECT] =
  [1, 2, 3, 4, 8, 9, 12, 13, 14];
const REFUSED = ["", "the version is not accepted", "the client id is not accepted",
  "the broker is not available", "the password is wrong", "not authorized"];

const bytes = (text) => new TextEncoder().encode(text);
const u16 = (n) => [n >> 8, n & 255];
const text = (s) => {
  const b = bytes(s);
  if (b.length > 65535)
    throw new RangeError("over 65535 bytes");
  return [...u16(b.length), ...b];
};

// code: of CONNACK, 0 if the connection has failed otherwise.
export class MqttError extends Error {
  constructor(message, code = 0) {
    super(message);
    this.code = code;
  }
}

export function packet(type, flags, ...parts) {
  const n = parts.reduce((sum, p) => sum + p.length, 0);
  const head = [type << 4 | flags];
  let left = n;
  do {
    head.push(left % 128 | (left > 127 ? 128 : 0));
    left = Math.floor(left / 128);
  } while (left > 0);
  const out = new Uint8Array(head.length + n);
  out.set(head);
  let at = head.length;
  for (const p of parts) {
    out.set(p, at);
    at += p.length;
  }
  return out;
}

// The packets of a stream that may be cut anywhere.
export class PacketReader {
  #rest = new Uint8Array(0);

  push(data) {
    const all = new Uint8Array(this.#rest.length + data.length);
    all.set(this.#rest);
    all.set(data, this.#rest.length);
    const packets = [];
    let at = 0;
    for (;;) {
      const end = this.#end(all, at);
      if (!end)
        break;
      packets.push({ type: all[at] >> 4, flags: all[at] & 15,
        body: all.subarray(end.body, end.next) });
      at = end.next;
    }
    this.#rest = all.slice(at);
    return packets;
  }

  // Where the packet at that place has its body and its end; null: not whole.
  #end(all, at) {
    let n = 0;
    for (let i = 1; i <= 4; i++) {
      if (at + i >= all.length)
        return null;
      n += (all[at + i] & 127) * 128 ** (i - 1);
      if (n > PACKET_MAX)
        throw new MqttError("a packet is too large");
      if (all[at + i] < 128) {
        const body = at + i + 1;
        return body + n <= all.length ? { body, next: body + n } : null;
      }
    }
    throw new MqttError("a packet has no valid length");
  }
}

export function readPublish({ flags, body }) {
  const qos = flags >> 1 & 3;
  const n = body[0] << 8 | body[1];
  const at = 2 + n + (qos > 0 ? 2 : 0);
  if (qos > 1 || body.length < at)
    throw new MqttError("a PUBLISH is not valid");
  return { topic: new TextDecoder().decode(body.subarray(2, 2 + n)), qos,
    id: qos > 0 ? body[2 + n] << 8 | body[3 + n] : 0, retain: (flags & 1) === 1,
    payload: new TextDecoder().decode(body.subarray(at)) };
}

export class Mqtt {
  #socket;
  #reader = new PacketReader();
  #waiting = new Map(); // what is acknowledged, by its id; 0: CONNACK
  #id = 0;
  #timer = null;
  #pinged = false;
  #ended = false;

  // socket: a WebSocket that is opening, of the subprotocol "mqtt".
  constructor(socket, { onMessage = () => {}, onEnd = () => {} } = {}) {
    this.#socket = socket;
    this.onMessage = onMessage;
    this.onEnd = onEnd;
    socket.binaryType = "arraybuffer";
    socket.onmessage = ({ data }) => this.#receive(data);
    socket.onclose = ({ reason }) =>
      this.#fail(new MqttError(reason || "the connection has ended"));
  }

  async connect({ clientId, username, password, will, keepAlive = 30 }) {
    const flags = 2 | (will ? 4 | 8 | 32 : 0) | (username ? 128 : 0) | (password ? 64 : 0);
    const parts = [text("MQTT"), [4, flags], u16(keepAlive), text(clientId)];
    if (will)
      parts.push(text(will.topic), text(will.payload));
    for (const given of [username, password])
      if (given)
        parts.push(text(given));
    const accepted = this.#wait(0);
    const open = () => this.#send(packet(CONNECT, 0, ...parts));
    if (this.#socket.readyState === 1)
      open();
    else
      this.#socket.onopen = open;
    await accepted;
    this.#timer = setInterval(() => this.#ping(), 500 * keepAlive);
  }

  // Resolves when it is sent (QoS 0) or the broker has it (QoS 1).
  async publish(topic, payload, { qos = 0, retain = false } = {}) {
    const id = qos > 0 ? this.#next() : 0;
    const sent = packet(PUBLISH, qos << 1 | (retain ? 1 : 0), text(topic),
      qos > 0 ? u16(id) : [], bytes(payload));
    const confirmed = qos > 0 && this.#wait(id);
    this.#send(sent);
    await confirmed;
  }

  async subscribe(filters) {
    const id = this.#next();
    const confirmed = this.#wait(id);
    this.#send(packet(SUBSCRIBE, 2, u16(id), ...filters.map((f) => [...text(f), 1])));
    const granted = await confirmed;
    if (granted.some((qos) => qos > 2)) {
      const error = new MqttError("a subscription is not allowed", 5);
      this.#fail(error);
      throw error;
    }
  }

  // The broker publishes no will.
  end() {
    if (!this.#ended && this.#socket.readyState === 1)
      this.#send(packet(DISCONNECT, 0));
    this.#ended = true;
    this.#fail(new MqttError("closed"));
  }

  #send(data) {
    if (this.#socket.readyState !== 1)
      throw new MqttError("the connection has ended");
    this.#socket.send(data);
  }

  #next() {
    do
      this.#id = this.#id % 65535 + 1;
    while (this.#waiting.has(this.#id));
    return this.#id;
  }

  #wait(id) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() =>
        this.#fail(new MqttError("the broker does not answer")), ACK_MS);
      this.#waiting.set(id, { timer, resolve, reject });
    });
  }

  #confirm(id, value, error) {
    const waiting = this.#waiting.get(id);
    if (!waiting)
      return;
    clearTimeout(waiting.timer);
    this.#waiting.delete(id);
    if (error)
      waiting.reject(error);
    else
      waiting.resolve(value);
  }

  // Twice in the time of keepAlive; the answer to one is due before the next.
  #ping() {
    if (this.#pinged) {
      this.#fail(new MqttError("the broker does not answer"));
      return;
    }
    this.#pinged = true;
    this.#send(packet(PINGREQ, 0));
  }

  #receive(data) {
    try {
      this.#reader.push(new Uint8Array(data)).forEach((p) => this.#handle(p));
    } catch (error) {
      this.#fail(error);
    }
  }

  #handle(p) {
    if (p.type === CONNACK) {
      const code = p.body[1];
      if (code > 0)
        this.#fail(new MqttError(REFUSED[code] ?? "the broker refuses it", code));
      this.#confirm(0);
    } else if (p.type === PUBLISH) {
      const message = readPublish(p);
      if (message.qos > 0)
        this.#send(packet(PUBACK, 0, u16(message.id)));
      this.onMessage(message);
    } else if (p.type === PUBACK || p.type === SUBACK) {
      this.#confirm(p.body[0] << 8 | p.body[1], [...p.body.subarray(2)]);
    } else if (p.type === PINGRESP) {
      this.#pinged = false;
    }
  }

  #fail(error) {
    clearInterval(this.#timer);
    for (const id of [...this.#waiting.keys()])
      this.#confirm(id, null, error);
    this.#socket.onclose = this.#socket.onmessage = null;
    this.#socket.close();
    if (!this.#ended) {
      this.#ended = true;
      this.onEnd(error);
    }
  }
}
